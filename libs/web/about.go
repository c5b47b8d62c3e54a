package web

import (
	"strconv"
	"strings"
	"time"
)

// Place is a business as schema.org's LocalBusiness.
type Place struct {
	Context   string  `json:"@context,omitempty"`
	Type      string  `json:"@type"`
	Name      string  `json:"name"`
	URL       string  `json:"url,omitempty"`
	Telephone string  `json:"telephone,omitempty"`
	Email     string  `json:"email,omitempty"`
	Image     string  `json:"image,omitempty"`
	Address   *postal `json:"address,omitempty"`
	// Hours are when somebody is there.
	Hours []opening `json:"openingHoursSpecification,omitempty"`
	// Offers are what can be booked.
	Offers []Offer `json:"makesOffer,omitempty"`
	// Action is how to book it.
	Action *Action `json:"potentialAction,omitempty"`
}

// postal is an address of schema.org.
type postal struct {
	Type     string `json:"@type"`
	Street   string `json:"streetAddress,omitempty"`
	Code     string `json:"postalCode,omitempty"`
	Locality string `json:"addressLocality,omitempty"`
	Country  string `json:"addressCountry,omitempty"`
}

// opening is a part of a weekday in which a business is open.
type opening struct {
	Type   string `json:"@type"`
	Day    string `json:"dayOfWeek"`
	Opens  string `json:"opens"`
	Closes string `json:"closes"`
}

// Openings are weekly hours by ISO weekday, 1 (Monday) to 7 (Sunday), as schema.org's OpeningHoursSpecification.
func Openings(week map[string][][2]string) (all []opening) {
	for day := 1; day <= 7; day++ {
		for _, block := range week[strconv.Itoa(day)] {
			all = append(all, opening{"OpeningHoursSpecification", time.Weekday(day % 7).String(), block[0], strings.Replace(block[1], "24:00", "23:59", 1)})
		}
	}
	return all
}

// Offer is a service with its price.
type Offer struct {
	Type     string  `json:"@type"`
	Service  Service `json:"itemOffered"`
	Price    string  `json:"price,omitempty"`
	Currency string  `json:"priceCurrency,omitempty"`
}

// Service is a service of schema.org.
type Service struct {
	Type        string `json:"@type"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Action is schema.org's ReserveAction, which begins at an address.
type Action struct {
	Type   string `json:"@type"`
	Target string `json:"target"`
}

// Place is the business by the general settings. What nobody has filled in is left out.
func (u *UI) Place() Place {
	var g struct {
		Business struct {
			Name, Email, Phone, Website, City string
			AddressLine                       string `json:"address_line"`
			PostalCode                        string `json:"postal_code"`
		}
		Country string
	}
	u.Read("general", &g)
	b := g.Business
	p := Place{Context: "https://schema.org", Type: "LocalBusiness", Name: u.Business().Name, URL: b.Website, Telephone: b.Phone, Email: b.Email}
	if logo := u.Logo(); logo != "" {
		p.Image = u.PublicURL + logo
	}
	if b.AddressLine != "" || b.City != "" {
		p.Address = &postal{"PostalAddress", b.AddressLine, b.PostalCode, b.City, g.Country}
	}
	return p
}
