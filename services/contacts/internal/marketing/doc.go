// Package marketing keeps what people agreed to: the tables consent, marketing_link and unsubscribed, the operations on the consents of a contact, the
// links in mails, and the pages behind them (web). The state of a subscription stands in the contact.
//
// It uses timeline and contact. Rooms that give a contact an address ask it whether its owner has left (Recall, HaveLeft).
package marketing
