// Package notices says what becomes of appointments to the people of the team whom it concerns, by notices to settings, which mails them as each of
// them has chosen. It keeps no table.
//
// It uses appointments and services: the addresses that the settings name are told as well.
package notices
