package op

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARefusalIsDeclaredByAKnownCodeAndASentence(t *testing.T) {
	require.Empty(t, Fails{"svc_conflict sold": "The stamp is sold."}.wrong())
	require.NotEmpty(t, Fails{"svc_sold": "The stamp is sold."}.wrong())
	require.NotEmpty(t, Fails{"svc_conflict": "sold"}.wrong())
}
