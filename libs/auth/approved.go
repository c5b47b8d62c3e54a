package auth

import (
	"encoding/base64"
	"net/http"
	"strings"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// approvedHeader carries a call that a person has approved, and the signature of settings. Such a call has no other credential.
const approvedHeader = "X-Frontdesk-Approved"

// SignApproved adds to a call of the API, which has no credential, that it is the one that a person has approved. Only settings is believed.
func (a *Auth) SignApproved(h http.Header, call *proto.ApprovedCall) error {
	value, err := protobuf.Marshal(call)
	if err != nil {
		return err
	}
	signature, err := a.Trust.Sign(trust.Message{Topic: approvedHeader, Key: call.GetApprovalId(), Value: value, Stamp: a.Now().UnixMicro()})
	if err != nil {
		return err
	}
	h.Set(approvedHeader, base64.RawURLEncoding.EncodeToString(signature)+" "+base64.RawURLEncoding.EncodeToString(value))
	return nil
}

// Approved returns the call that settings has signed; false without one, and for a signature that is not right or old.
func (a *Auth) Approved(h http.Header) (*proto.ApprovedCall, bool) {
	first, second, ok := strings.Cut(h.Get(approvedHeader), " ")
	signature, wrong := base64.RawURLEncoding.DecodeString(first)
	value, err := base64.RawURLEncoding.DecodeString(second)
	call := &proto.ApprovedCall{}
	if !ok || wrong != nil || err != nil || protobuf.Unmarshal(value, call) != nil {
		return nil, false
	}
	stamp, err := a.Trust.Verify(voucher, trust.Message{Topic: approvedHeader, Key: call.GetApprovalId(), Value: value}, signature)
	return call, err == nil && a.fresh(stamp)
}

// OfApproved is the actor of an approved call: the credential that asked, with its rights of now, from the address of who approved. It is 401 without a
// credential, and if its time or its owner's access is over; the actor then has the approval alone.
func (a *Auth) OfApproved(call *proto.ApprovedCall) (db.Actor, error) {
	key, approved := call.GetCredential(), db.Approved{ID: call.GetApprovalId(), By: call.GetApprovedBy()}
	user, ok := a.Identity.User(key.GetUserId())
	r := a.Identity.rightsOf(key.GetUserId())
	if !ok || !r.api || a.over(key) {
		return db.Actor{Approved: approved}, fault.Unauthorized("The credential that asked for this has ended.")
	}
	actor := byKey(key, user, r)
	actor.Address, actor.Approved = call.GetAddress(), approved
	return actor, nil
}
