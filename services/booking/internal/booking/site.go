package booking

import "cmp"

// general is what booking reads of the site's general settings.
type general struct {
	Business struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		Phone string `json:"phone"`
	} `json:"business"`
	Currency string `json:"currency"`
	Country  string `json:"country"`
	ReplyTo  string `json:"reply_to"`
	MailFrom string `json:"mail_from"`
}

func (s *service) general() general {
	var site general
	s.Site.Read("general", &site)
	if site.Business.Name == "" {
		site.Business.Name = "Frontdesk"
	}
	// A version of settings before 1.1 does not publish the sender.
	site.MailFrom = cmp.Or(site.MailFrom, "frontdesk@localhost")
	return site
}
