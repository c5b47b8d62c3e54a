package trust

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABoxEndsWithItsHourAndItsValues(t *testing.T) {
	key := PublicOf(first, "settings").seal
	now := time.Now()
	var all boxes
	agreed := func(at time.Time) string {
		b, err := all.sealingTo("settings", key, at)
		require.NoError(t, err)
		return string(b.agreed)
	}
	one := agreed(now)
	require.Equal(t, one, agreed(now.Add(boxLasts-time.Second)))
	two := agreed(now.Add(boxLasts))
	require.NotEqual(t, one, two)
	all.sealing["settings"].left = 1
	require.Equal(t, two, agreed(now.Add(boxLasts)))
	require.NotEqual(t, two, agreed(now.Add(boxLasts)))
}

func TestManyProcessesSealAtOnceAndTheSameTextNeverLooksTheSame(t *testing.T) {
	ring := Ring{"settings": {PublicOf(first, "settings")}}
	settings := New("settings", []string{first}, ring)
	var mu sync.Mutex
	seen := map[string]bool{}
	var running sync.WaitGroup
	for range 3 * mostOpened / 2 {
		sender := New("booking", []string{second}, ring)
		running.Go(func() {
			for n := range 4 {
				key := fmt.Sprint(n % 2)
				sealed, err := sender.Seal("settings", "settings.mail", key, []byte("a token"))
				require.NoError(t, err)
				plain, err := settings.Open("settings.mail", key, sealed)
				require.NoError(t, err)
				require.Equal(t, "a token", string(plain))
				mu.Lock()
				require.False(t, seen[string(sealed)])
				seen[string(sealed)] = true
				mu.Unlock()
			}
		})
	}
	running.Wait()
	require.LessOrEqual(t, len(settings.boxes.opened), mostOpened)
}
