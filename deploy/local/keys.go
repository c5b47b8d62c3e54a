package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"strings"

	"frontdesk/libs/trust"
)

// printKeys prints a new key for each service, and the public keys that belong to them, as lines for an environment file.
func printKeys(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("keys", flag.ExitOnError)
	shared := flags.String("shared", "", "SVC_SHARED_KEY as it is: it never changes, so only the first keys come without")
	public := flags.String("public", "", "SVC_PUBLIC_KEYS as it is, if there is one: what was signed with the keys of before is still taken")
	_ = flags.Parse(args)
	if *shared == "" {
		if flags.NFlag() > 0 {
			return errors.New("an installation without a SVC_SHARED_KEY has used its first SVC_MASTER_KEY for it: -shared \"$SVC_MASTER_KEY\"")
		}
		*shared = randomKey()
	} else if *public == "" { // one key signed for all
		*public = publicKeys(func(string) string { return *shared })
	}
	fmt.Println("SVC_SHARED_KEY=" + *shared)
	keys := map[string]string{}
	for _, name := range services {
		keys[name] = randomKey()
		fmt.Println(strings.ToUpper(name) + "_KEY=" + keys[name])
	}
	all := publicKeys(func(name string) string { return keys[name] })
	if *public != "" {
		all += "," + *public
	}
	fmt.Println("SVC_PUBLIC_KEYS=" + all)
	return nil
}

// publicKeys are SVC_PUBLIC_KEYS for services with these keys.
func publicKeys(keyOf func(service string) string) string {
	return strings.Join(trust.RingOf(services, func(name string) []string { return []string{keyOf(name)} }).Strings(), ",")
}

func randomKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, says crypto/rand
	return hex.EncodeToString(key)
}
