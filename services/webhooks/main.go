// Command webhooks sends the events of the other services: one signed request per event and subscriber.
package main

import (
	"frontdesk/libs/app"
	"frontdesk/services/webhooks/internal/webhooks"
)

func main() { app.Main(webhooks.Service) }
