// Package form keeps forms, their trash, and the questions that their exports have columns for: the tables form and form_column, the topic
// forms.form, the operations on forms and their time tokens, the pages that show them, and the mail to
// the addresses that a form notifies.
//
// It uses definition and forms/web. Higher rooms ask it for a form that visitors can send in (ForVisitor), for one of a submission (Any), and for the
// columns of an export. How many submissions a form had is given to New.
//
// It keeps copies of the custom fields and of the site's pages in memory.
package form
