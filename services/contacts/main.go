// Command contacts runs the contacts service.
package main

import (
	"frontdesk/libs/app"
	"frontdesk/services/contacts/internal/contacts"
)

func main() { app.Main(contacts.Service) }
