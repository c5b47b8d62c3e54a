// Command settings owns people and access, the site's settings, apps and pages, the audit log and the
// mail that leaves the system.
package main

import (
	"frontdesk/libs/app"
	"frontdesk/services/settings/internal/settings"
)

func main() { app.Main(settings.Service) }
