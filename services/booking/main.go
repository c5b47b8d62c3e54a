// Command booking runs the booking service: services, hours, appointments and the public side of them.
package main

import (
	"frontdesk/libs/app"
	"frontdesk/services/booking/internal/booking"
)

func main() { app.Main(booking.Service) }
