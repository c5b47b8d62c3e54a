package passwords

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/services/settings/internal/people"
)

func TestAPasswordThatIsGuessedFirstIsRefused(t *testing.T) {
	t.Parallel()
	ada := people.Person{Login: "ada.l", Name: "Ada Lovelace", Email: "ada.lovelace@example.com"}
	for password, code := range map[string]string{
		"short": "too_short", "pässwör": "too_short",
		"password": "common", "Password1": "common", "welkom123": "common", "Monkey2024!": "common", "!!qwertyuiop!!": "common",
		"12345678901": "common", "aaaaaaaaaaaa": "common", "abababab": "common",
		"lovelace1815": "common", "Ada-Lovelace": "common", "ada.lovelace@example.com": "common", "Atelier2026": "common", "frontdesk!": "common",
		"correct horse battery": "", "zacht nevelig dak": "", "tr0ub4dor&3x!": "", "948201746382": "", "слон гуляет": "",
	} {
		problem, err := checkNewPassword(password, ada, "Atelier")
		require.NoError(t, err)
		require.Equal(t, code, problem.Code, password)
	}
}
