// Package people is what the team does with contacts: create them, one or a hundred at once, change them, put them into the trash and take them out.
// It keeps no table.
//
// It uses field, timeline, contact, organization, tag and marketing. Joining makes and fills in contacts by Insert and Save.
//
// Reads: contact, unsubscribed.
package people
