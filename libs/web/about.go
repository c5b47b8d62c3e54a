package web

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
