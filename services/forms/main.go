// Command forms keeps the forms of a site and what visitors submit with them.
package main

import (
	"frontdesk/libs/app"
	"frontdesk/services/forms/internal/forms"
)

func main() { app.Main(forms.Service) }
