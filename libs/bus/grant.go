package bus

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/segmentio/kafka-go"

	"frontdesk/proto"
)

// scramIterations is the least that Kafka takes. The passwords are random, so guessing one is not helped by fewer.
const scramIterations = 4096

// Grant sets the password of each user and makes proto.Rights all that it may do: rights of an earlier version go. The login is
// an administrator's. A second call changes nothing.
func (b *Bus) Grant(ctx context.Context, passwords map[string]string) error {
	users := slices.Sorted(maps.Keys(passwords))
	scram := &kafka.AlterUserScramCredentialsRequest{}
	for _, user := range users {
		salt := make([]byte, 16)
		_, _ = rand.Read(salt) // it never fails
		salted, err := pbkdf2.Key(sha512.New, passwords[user], salt, scramIterations, sha512.Size)
		if err != nil {
			return fmt.Errorf("bus: password of %s: %w", user, err)
		}
		scram.Upsertions = append(scram.Upsertions, kafka.UserScramCredentialsUpsertion{
			Name: user, Mechanism: kafka.ScramMechanismSha512, Iterations: scramIterations, Salt: salt, SaltedPassword: salted})
	}
	set, err := b.client.AlterUserScramCredentials(ctx, scram)
	if err != nil {
		return fmt.Errorf("bus: set passwords: %w", b.explain(ctx, err))
	}
	for _, r := range set.Results {
		if r.Error != nil {
			return fmt.Errorf("bus: set the password of %s: %w", r.User, r.Error)
		}
	}
	for _, user := range users {
		if err := b.grant(ctx, user); err != nil {
			return fmt.Errorf("bus: rights of %s: %w", user, err)
		}
	}
	return nil
}

func (b *Bus) grant(ctx context.Context, user string) error {
	wanted := accessOf(user)
	found, err := b.client.DescribeACLs(ctx, &kafka.DescribeACLsRequest{Filter: kafka.ACLFilter{
		ResourceTypeFilter: kafka.ResourceTypeAny, ResourcePatternTypeFilter: kafka.PatternTypeAny, PrincipalFilter: principal(user),
		Operation: kafka.ACLOperationTypeAny, PermissionType: kafka.ACLPermissionTypeAny}})
	if err == nil {
		err = found.Error
	}
	if err != nil {
		return err
	}
	missing, gone := slices.Clone(wanted), &kafka.DeleteACLsRequest{}
	for _, r := range found.Resources {
		for _, a := range r.ACLs {
			e := kafka.ACLEntry{ResourceType: r.ResourceType, ResourceName: r.ResourceName, ResourcePatternType: r.PatternType,
				Principal: a.Principal, Host: a.Host, Operation: a.Operation, PermissionType: a.PermissionType}
			missing = slices.DeleteFunc(missing, func(m kafka.ACLEntry) bool { return m == e })
			if !slices.Contains(wanted, e) {
				gone.Filters = append(gone.Filters, kafka.DeleteACLsFilter{ResourceTypeFilter: e.ResourceType, ResourceNameFilter: e.ResourceName,
					ResourcePatternTypeFilter: e.ResourcePatternType, PrincipalFilter: e.Principal, HostFilter: e.Host, Operation: e.Operation, PermissionType: e.PermissionType})
			}
		}
	}
	if len(missing) > 0 {
		made, err := b.client.CreateACLs(ctx, &kafka.CreateACLsRequest{ACLs: missing})
		if err != nil {
			return err
		}
		if err := errors.Join(made.Errors...); err != nil {
			return err
		}
	}
	if len(gone.Filters) == 0 {
		return nil
	}
	deleted, err := b.client.DeleteACLs(ctx, gone)
	if err != nil {
		return err
	}
	for _, r := range deleted.Results {
		if r.Error != nil {
			return r.Error
		}
	}
	return nil
}

func principal(user string) string { return "User:" + user }

// accessOf are the rights of a user in the client's words. The words of proto are those of Kafka's tools, which the client reads.
func accessOf(user string) []kafka.ACLEntry {
	var all []kafka.ACLEntry
	for _, r := range proto.Rights(user) {
		e := kafka.ACLEntry{ResourceName: r.Name, ResourcePatternType: kafka.PatternTypeLiteral, Principal: principal(user), Host: "*",
			PermissionType: kafka.ACLPermissionTypeAllow}
		_ = e.ResourceType.UnmarshalText([]byte(r.Resource))
		_ = e.Operation.UnmarshalText([]byte(r.Operation))
		all = append(all, e)
	}
	return all
}
