// Package letter holds the words of the mails to clients and visitors: one template for each kind of mail and language. The standard ones
// stand in text/, those that a business wrote itself come as documents on settings.site. Who writes a mail fills in the template with Write.
//
// A template is a subject and a body of plain text. An empty line begins a paragraph. {name} is a placeholder; those for facts, for links and
// for texts of several paragraphs stand on a line of their own. The layout, the words of buttons and the small print are no part of it.
package letter
