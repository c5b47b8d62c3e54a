package site

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
)

// SiteFacts is what everybody on the team may know of the business and its portal.
type SiteFacts struct {
	Name       string  `json:"name" doc:"The name of the business."`
	Timezone   string  `json:"timezone" doc:"IANA zone of the business."`
	WeekStart  int     `json:"week_start" doc:"ISO weekday, 1 is Monday."`
	Currency   string  `json:"currency" doc:"ISO 4217."`
	Country    string  `json:"country" doc:"The ISO code of the country."`
	IdleHours  int     `json:"idle_hours" doc:"Hours without a request after which a session ends."`
	PoweredBy  bool    `json:"powered_by" doc:"Pages name the product."`
	Path       string  `json:"path" doc:"Path of the portal."`
	PortalURL  string  `json:"portal_url" doc:"The address of the portal."`
	BookingURL *string `json:"booking_url" doc:"The stand-alone booking page; null while it is off."`
	LogoURL    *string `json:"logo_url" doc:"The address of the logo; null without one."`
}

// getSite needs no right to change settings, so that the portal can show money, times and its own address to everybody.
func (r *Room) getSite(ctx context.Context, tx *db.Tx, _ op.None) (SiteFacts, error) {
	var general generalDoc
	if _, err := document.Read(ctx, tx, document.General, &general); err != nil {
		return SiteFacts{}, err
	}
	var doc portalDoc
	if _, err := document.Read(ctx, tx, document.Portal, &doc); err != nil {
		return SiteFacts{}, err
	}
	g, p := r.general(general, 0, nil), r.portal(doc, db.Actor{}, false, nil)
	return SiteFacts{Name: g.Business.Name, Timezone: g.Timezone, WeekStart: g.WeekStart, Currency: g.Currency, Country: g.Country, IdleHours: p.IdleHours,
		PoweredBy: p.PoweredBy, Path: p.Path, PortalURL: p.URL, BookingURL: p.BookingURL, LogoURL: p.LogoURL}, nil
}
