package libs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

// usage is what the source of a process does with topics, by the names of their constants.
type usage struct{ reads, writes map[string]bool }

// usageOf reads the source below some folders. A topic is read where it is in a bus.Follow, in a list of topics or given to a new table, and
// written where it is in an event, in the declaration of records, or the first argument of a function that publishes.
func usageOf(t *testing.T, folders ...string) usage {
	t.Helper()
	u := usage{map[string]bool{}, map[string]bool{}}
	topic := func(e ast.Expr) string {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if pkg, ok := s.X.(*ast.Ident); !ok || pkg.Name != "proto" || !strings.HasSuffix(s.Sel.Name, "Topic") {
			return ""
		}
		return s.Sel.Name
	}
	inspect := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			fields := map[string]ast.Expr{}
			for _, e := range n.Elts {
				if name := topic(e); name != "" {
					u.reads[name] = true
				}
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok {
						fields[key.Name] = kv.Value
					}
				}
			}
			if name := topic(fields["Topic"]); name != "" {
				if fields["Handle"] != nil {
					u.reads[name] = true
				} else {
					u.writes[name] = true
				}
			}
		case *ast.CallExpr:
			called := ""
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				called = f.Sel.Name
			case *ast.Ident:
				called = f.Name
			case *ast.IndexExpr:
				if s, ok := f.X.(*ast.SelectorExpr); ok {
					called = s.Sel.Name
				}
			}
			for _, a := range n.Args {
				name := topic(a)
				switch {
				case name == "":
				case called == "NewTable" || called == "NewRecordTable":
					u.reads[name] = true
				case slices.Contains([]string{"EmitMessage", "Tombstone", "OneRecord", "sendMessage"}, called):
					u.writes[name] = true
				}
			}
		}
		return true
	}
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() && (strings.HasSuffix(e.Name(), "test") || e.Name() == "testdata") {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, inspect)
			return nil
		}))
	}
	return u
}

// topicConstants are the values of the constants of proto/topics.go by their names.
func topicConstants(t *testing.T) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../proto/topics.go", nil, 0)
	require.NoError(t, err)
	out := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && len(s.Values) == 1 && strings.HasSuffix(s.Names[0].Name, "Topic") {
			out[s.Names[0].Name] = strings.Trim(s.Values[0].(*ast.BasicLit).Value, `"`)
		}
		return true
	})
	return out
}

func TestTheTopicsSayWhoPublishesAndWhoFollows(t *testing.T) {
	names := topicConstants(t)
	common := usageOf(t, "app", "auth", "db")
	sources := map[string]usage{proto.Gateway: usageOf(t, "../gateway")}
	for _, s := range proto.Services {
		u := usageOf(t, filepath.Join("..", "services", s))
		for name := range common.reads {
			u.reads[name] = true
		}
		for name := range common.writes {
			u.writes[name] = true
		}
		sources[s] = u
	}
	for process, u := range sources {
		for constant, name := range names {
			topic := proto.TopicNamed(name)
			require.Equal(t, u.writes[constant], topic.Owner == process || slices.Contains(topic.Writers, process), "%s publishes on %s", process, name)
			require.Subset(t, append(slices.Clone(topic.Readers), topic.Copies...), topic.Rehearse, "who rehearses what comes on %s", name)
			require.Equal(t, u.reads[constant], slices.Contains(topic.Readers, process) || slices.Contains(topic.Copies, process), "%s follows %s", process, name)
		}
	}
}

// Of every command its readers say in a rehearsal what they would do, or its topic says why nobody asks them.
func TestEveryCommandIsRehearsedUnlessItsTopicSaysWhyNot(t *testing.T) {
	rehearsed := map[string]string{
		proto.KindEnsureContact: proto.ContactsCommandTopic, proto.KindEnsureFields: proto.ContactsCommandTopic,
		proto.KindRemoveStaff: proto.BookingCommandTopic, proto.KindSendAgenda: proto.BookingCommandTopic, proto.KindRenewLink: proto.BookingCommandTopic,
		proto.KindRecordSubmission: proto.FormsCommandTopic, proto.KindTellTeam: proto.MailTopic, proto.KindForgetPerson: proto.ForgetTopic,
	}
	known := []string{proto.KindRehearse, proto.KindRehearsed}
	for kind, name := range rehearsed {
		topic := proto.TopicNamed(name)
		for _, reader := range topic.Readers {
			require.True(t, topic.Rehearses(reader, kind), "%s by %s", kind, reader)
		}
		known = append(known, kind)
	}
	for _, topic := range proto.Topics {
		for kind, why := range topic.Unrehearsed {
			require.NotEmpty(t, why, kind)
			known = append(known, kind)
		}
	}
	commands := slices.DeleteFunc(constants(t, "kinds.go", "^Kind"), func(kind string) bool { return strings.Contains(kind, ".") })
	require.ElementsMatch(t, commands, known, "a command is rehearsed, or is not and its topic says why")
}

func TestNobodyHasARightThatTheTopicsDoNotGive(t *testing.T) {
	for _, user := range proto.Users() {
		for _, r := range proto.Rights(user) {
			topic := proto.TopicNamed(r.Name)
			switch {
			case r.Resource == proto.GroupResource:
				require.Equal(t, r.Name == user, r.Operation == proto.Read, "%v of %s", r, user)
			case r.Operation == proto.Write:
				require.True(t, topic.Owner == user || slices.Contains(topic.Writers, user), "%v of %s", r, user)
			case r.Operation == proto.Create || r.Operation == proto.AlterConfigs:
				require.True(t, strings.HasPrefix(r.Name, user+".") || user == "settings" && strings.HasPrefix(r.Name, "svc."), "%v of %s", r, user)
			}
		}
		if user != "settings" {
			require.NotContains(t, proto.Rights(user), proto.Right{Resource: proto.TopicResource, Name: proto.MailTopic, Operation: proto.Read})
		}
	}
	require.Empty(t, proto.Rights("stranger"))
}
