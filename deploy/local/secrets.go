package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"frontdesk/libs/durable"
	"frontdesk/proto"
)

// secrets are made once per data folder and kept there, in a file that only its owner can read.
type secrets struct {
	// MasterKey is what the keys of the services are derived from. In a folder without a SharedKey each of them had it.
	MasterKey        string            `json:"master_key"`
	SharedKey        string            `json:"shared_key"`
	AdminPassword    string            `json:"admin_password"`
	PostgresPassword string            `json:"postgres_password"`
	RolePasswords    map[string]string `json:"role_passwords"`
	// KafkaPasswords are those of the users at our own broker, and of its administrator.
	KafkaPasswords map[string]string `json:"kafka_passwords"`
}

// loadSecrets reads the secrets of a data folder, and makes those that are not there yet. It refuses to make secrets for a
// database that was made with others.
func loadSecrets(dir string, services []string) (secrets, error) {
	var s secrets
	path := filepath.Join(dir, "secrets.json")
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return s, fmt.Errorf("%s is gone, but the data it opens is there: put it back, or start anew with 'make clean'", path)
		}
	case err != nil:
		return s, err
	default:
		if err := json.Unmarshal(b, &s); err != nil {
			return s, fmt.Errorf("%s cannot be read: %w", path, err)
		}
	}
	read := b
	if s.RolePasswords == nil {
		s.RolePasswords = map[string]string{}
	}
	if s.KafkaPasswords == nil {
		s.KafkaPasswords = map[string]string{}
	}
	if s.MasterKey == "" {
		s.MasterKey, s.SharedKey = randomKey(), randomKey()
	}
	made := []*string{&s.AdminPassword, &s.PostgresPassword}
	for _, p := range made {
		if *p == "" {
			*p = rand.Text()
		}
	}
	for _, name := range services {
		if s.RolePasswords[name] == "" {
			s.RolePasswords[name] = rand.Text()
		}
	}
	for _, name := range append(proto.Users(), administrator) {
		if s.KafkaPasswords[name] == "" {
			s.KafkaPasswords[name] = rand.Text()
		}
	}
	if b, err = inJSON(s); err != nil || bytes.Equal(b, read) {
		return s, err
	}
	return s, durable.Write(path, b)
}

func inJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}

// writeJSON writes what a new start makes again.
func writeJSON(path string, v any) error {
	b, err := inJSON(v)
	if err != nil {
		return err
	}
	return durable.Replace(path, b)
}
