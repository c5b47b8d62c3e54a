package mails

import (
	"frontdesk/libs/app"
	"frontdesk/services/booking/internal/notices"
	"frontdesk/services/booking/internal/services"
)

// Room mails clients.
type Room struct {
	*app.Kit
	services *services.Room
	notices  *notices.Room
}

func New(k *app.Kit, services *services.Room, n *notices.Room) *Room { return &Room{k, services, n} }
