package mails

import (
	"frontdesk/libs/app"
	"frontdesk/services/booking/internal/services"
)

// Room mails clients.
type Room struct {
	*app.Kit
	services *services.Room
}

func New(k *app.Kit, services *services.Room) *Room { return &Room{k, services} }
