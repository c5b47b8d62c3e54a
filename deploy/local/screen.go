package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// screen says where everything is: first what somebody opens who sees it for the first time.
func (l *launch) screen() string {
	shown, sent := l.knobs.AdminPassword, l.knobs.AdminPassword
	if !l.own {
		shown, sent = "as in SVC_ADMIN_PASSWORD", "…"
	}
	mail := l.mailPage()
	if l.SMTPURL != "" {
		mail = "real mail goes out through SVC_SMTP_URL"
	}
	cookies := filepath.Join(l.DataDir, "cookies")
	body := fmt.Sprintf(`{"login":"%s","password":"%s"}`, l.AdminLogin, sent)
	return fmt.Sprintf(`
Frontdesk is ready after %s.

  The team            %[2]s/team
  Administrator       %[5]s    password  %[6]s
  A lost password     .run/bin/local reset-password %[5]s
  Booking page        %[2]s/team/book   (the guide on the team's first screen switches it on)
  Mails               %[3]s
  API                 %[2]s/v1
  API description     %[2]s/v1/openapi.json
  Gateway dashboard   http://localhost:%[4]d
  Logs, data          %[7]s

Three lines to try:
  curl -c %[8]s -H 'Content-Type: application/json' -d '%[9]s' %[2]s/v1/auth/login
  curl -b %[8]s %[2]s/v1/me
  curl -b %[8]s '%[2]s/v1/contacts?per_page=5'

Ctrl-C stops it; the data stays.
`, time.Since(l.started).Round(100*time.Millisecond), l.PublicURL, mail, l.HTTPPort+controllerAdminOffset, l.AdminLogin, shown,
		filepath.Join(l.DataDir, "log")+", "+l.DataDir, cookies, strings.ReplaceAll(body, `'`, `'\''`))
}

// mailPage is where the mails of a run without a mail server are shown.
func (l *launch) mailPage() string {
	return "http://localhost:" + strconv.Itoa(l.HTTPPort+mailPageOffset)
}

// inDatabase is an administrator's URL with another database.
func inDatabase(admin, database string) string {
	u, err := url.Parse(admin)
	if err != nil {
		return admin
	}
	u.Path = "/" + database
	return u.String()
}
