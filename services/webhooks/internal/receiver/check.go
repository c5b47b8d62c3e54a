package receiver

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/services/webhooks/internal/signature"
)

// signatureCheck is the result for one signature header.
type signatureCheck struct {
	Header   string   `json:"header" enum:"X-Svc-Signature,webhook-signature" doc:"The header that holds the signature."`
	SignedBy []signer `json:"signed_by" doc:"The webhooks whose secret made the signature; empty if no webhook has that secret."`
	Problem  *string  `json:"problem" enum:"missing,malformed,no_match,time" doc:"Why a receiver refuses it: a header is missing, has another form, no secret of a webhook signed exactly this body, or its time is more than five minutes from the arrival. Null if it verifies."`
}

// signer is a webhook whose secret made a signature.
type signer struct {
	Webhook uuid.UUID `json:"webhook" doc:"The webhook's id."`
	Name    string    `json:"name" doc:"The webhook's name."`
	Which   string    `json:"which" enum:"current,old" doc:"current, or old for the secret before, which is valid for a day after a change with keep_old."`
}

// checkSignatures compares both signatures with the secrets of all webhooks.
func (r *Room) checkSignatures(ctx context.Context, tx *db.Tx, h http.Header, body []byte) ([]signatureCheck, error) {
	all, err := r.endpoints.Secrets(ctx, tx)
	if err != nil {
		return nil, err
	}
	signers, secrets := make([]signer, len(all)), make([]string, len(all))
	for i, of := range all {
		signers[i], secrets[i] = signer{of.Webhook, of.Name, "current"}, of.Text
		if of.Old {
			signers[i].Which = "old"
		}
	}
	result := func(header string, c signature.Check) signatureCheck {
		out := signatureCheck{Header: header, SignedBy: []signer{}}
		for _, i := range c.By {
			out.SignedBy = append(out.SignedBy, signers[i])
		}
		if c.Problem != "" {
			problem := string(c.Problem)
			out.Problem = &problem
		}
		return out
	}
	now := r.DB.Now()
	return []signatureCheck{result(signature.HeaderSvc, signature.CheckSvc(h.Get, body, secrets, now)),
		result(signature.HeaderStandardSignature, signature.CheckStandard(h.Get, body, secrets, now))}, nil
}
