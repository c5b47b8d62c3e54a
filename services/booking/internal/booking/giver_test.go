package booking

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

// A key of a site administrator that was limited decides over nobody who holds more than the key.
func TestALimitedKeyRemovesNobodyWhoHoldsMore(t *testing.T) {
	o := open9to5(t, nil)
	boss, manager := o.As(auth.SiteAdmin), o.As("svc_admin")
	hash := auth.PasswordHash("limited")
	o.SendMessage(proto.IdentityTopic, auth.KeyKey("limited"), &proto.Identity{Version: 1, Record: &proto.Identity_Key{Key: &proto.ApplicationPassword{
		Id: "limited", UserId: boss.UserID, Name: "Limited", Hash: hash[:], Limited: true, Permissions: []string{auth.ManageCRM, auth.ViewContacts}}}})
	key := o.Visitor().With("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(boss.Login+":limited")))
	o.Eventually(func() bool { return key.Get("/staff").Status == 200 })

	refused := key.Delete(path("/staff/%d", manager.UserID), nil).Fails(403, "svc_forbidden")
	require.Equal(t, "role", refused.Text("data.reason"))
	for _, m := range key.Get("/staff").Is(200).Items() {
		require.Equal(t, false, m["can_remove"], m)
		require.Empty(t, m["roles_you_can_give"], m)
	}
	boss.Delete(path("/staff/%d", manager.UserID), nil).Is(200)
}
