package mail_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/mail"
)

// gate is an SMTP server that answers each part of a mail with an error of its own; nil takes it.
type gate struct{ from, to, data error }

func (g gate) NewSession(*smtp.Conn) (smtp.Session, error) { return g, nil }
func (g gate) Mail(string, *smtp.MailOptions) error        { return g.from }
func (g gate) Rcpt(string, *smtp.RcptOptions) error        { return g.to }
func (g gate) Data(r io.Reader) error {
	if _, err := io.ReadAll(r); err != nil {
		return err
	}
	return g.data
}
func (g gate) Reset()        {}
func (g gate) Logout() error { return nil }

func refusal(code int, enhanced smtp.EnhancedCode, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: text}
}

func TestARefusedSenderIsNoRefusalOfTheMail(t *testing.T) {
	sender := refusal(553, smtp.EnhancedCode{5, 7, 1}, "<salon@example.com>: Sender address rejected: not owned by user desk")
	for name, c := range map[string]struct {
		server   gate
		rejected bool
	}{
		"the sender, at once":            {gate{from: refusal(550, smtp.EnhancedCode{5, 7, 1}, "go away")}, false},
		"the sender, at the recipient":   {gate{to: sender}, false},
		"the sender, behind the message": {gate{data: refusal(554, smtp.EnhancedCode{5, 7, 60}, "Client does not have permissions to send as this sender")}, false},
		"a domain that is not known":     {gate{to: refusal(550, smtp.EnhancedCode{5, 1, 8}, "Domain not found")}, false},
		"a domain that does not sign":    {gate{data: refusal(550, smtp.EnhancedCode{5, 7, 26}, "unauthenticated")}, false},
		"nobody signed in":               {gate{to: refusal(530, smtp.EnhancedCode{5, 7, 0}, "Authentication required")}, false},
		"the recipient":                  {gate{to: refusal(550, smtp.EnhancedCode{5, 1, 1}, "User unknown")}, true},
		"the recipient, without a code":  {gate{to: refusal(550, smtp.NoEnhancedCode, "nobody here")}, true},
		"the message":                    {gate{data: refusal(554, smtp.EnhancedCode{5, 6, 0}, "no such content")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := smtp.NewServer(c.server)
			server.Domain = "localhost"
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			go func() { _ = server.Serve(l) }()
			t.Cleanup(func() { _ = server.Close() })
			m, err := mail.Render(confirmation())
			require.NoError(t, err)
			err = mail.Send(t.Context(), "smtp://"+l.Addr().String(), m, from, handOver)
			require.Error(t, err)
			require.Equal(t, c.rejected, errors.Is(err, mail.ErrRejected), err)
		})
	}
}

func TestASenderIsOneAddressWithAnOptionalName(t *testing.T) {
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	for _, bad := range []string{"salon", "salon@", "a@example.com, b@example.com", "a@example.com\r\nBcc: b@example.com", "Salon <salon@example.com", "<>"} {
		require.Error(t, mail.CheckSender(bad), bad)
		err := mail.Send(t.Context(), "smtp://127.0.0.1:1", m, bad, handOver)
		require.ErrorContains(t, err, "sender", bad)
		require.NotErrorIs(t, err, mail.ErrRejected, "the sender is not the mail's fault")
	}
	for _, good := range []string{"frontdesk@localhost", "salon@example.com", from, "Salon <salon@example.com>"} {
		require.NoError(t, mail.CheckSender(good), good)
	}
}

func TestTheBusinessStandsBeforeASenderWithoutAName(t *testing.T) {
	require.Equal(t, `"Salon Nord" <salon@example.com>`, mail.Sender("salon@example.com", "Salon\r\nNord"))
	require.Equal(t, `"A, \"B\" <c@d.example>" <salon@example.com>`, mail.Sender("salon@example.com", `A, "B" <c@d.example>`))
	require.Equal(t, "Desk <salon@example.com>", mail.Sender("Desk <salon@example.com>", "Salon Nord"))
	for _, name := range []string{"", "Salon Lumière", `A, "B" <c@d.example>`} {
		require.NoError(t, mail.CheckSender(mail.Sender("salon@example.com", name)), name)
	}
}
