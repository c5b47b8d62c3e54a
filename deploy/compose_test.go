package deploy_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/libs/app"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

const file = "../docker-compose.yml"

var secrets = []string{"POSTGRES_PASSWORD", "SETTINGS_DB_PASSWORD", "CONTACTS_DB_PASSWORD", "BOOKING_DB_PASSWORD",
	"FORMS_DB_PASSWORD", "WEBHOOKS_DB_PASSWORD", "SVC_MASTER_KEY", "SVC_ADMIN_PASSWORD"}

// given is what the environment says for each secret.
const given = "0123456789abcdef0123456789abcdef"

func load(t *testing.T, without string) (*types.Project, error) {
	t.Helper()
	var env []string
	for _, s := range secrets {
		if s != without {
			env = append(env, s+"="+given)
		}
	}
	o, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(env))
	require.NoError(t, err)
	return cli.ProjectFromOptions(t.Context(), o)
}

func TestTheComposeFileLoadsAndRunsEveryService(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	mains, err := filepath.Glob("../services/*/main.go")
	require.NoError(t, err)
	for _, m := range mains {
		name := filepath.Base(filepath.Dir(m))
		s, ok := p.Services[name]
		require.True(t, ok, "%s is missing", name)
		require.Equal(t, types.ShellCommand{name}, s.Command)
		require.Equal(t, "http://"+name+":8000", *s.Environment["SVC_BASE_URL"])
		require.Contains(t, *s.Environment["DATABASE_URL"], "//frontdesk_"+name+":")
	}
}

func TestEverySecretIsRequiredFromOutside(t *testing.T) {
	for _, s := range secrets {
		_, err := load(t, s)
		require.ErrorContains(t, err, s)
	}
	p, err := load(t, "")
	require.NoError(t, err)
	named := regexp.MustCompile(`(PASSWORD|KEY|SECRET|TOKEN)$`)
	address := regexp.MustCompile(`://[^/@:]*:([^/@]*)@`)
	for name, s := range p.Services {
		for variable, value := range s.Environment {
			if named.MatchString(variable) {
				require.Equal(t, given, *value, "%s: %s", name, variable)
			}
			if m := address.FindStringSubmatch(*value); m != nil {
				require.Equal(t, given, m[1], "%s: %s", name, variable)
			}
		}
	}
}

func TestImagesArePinnedAndWhatRunsIsWatchedAndKept(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	for name, s := range p.Services {
		if s.Build == nil {
			require.Regexp(t, `^[a-z/]+:v?\d+\.\d+`, s.Image, name)
		}
		once := s.Restart == "no"
		require.Equal(t, once, s.HealthCheck == nil, "%s: what stays up has a health check, what ends has none", name)
		for other, d := range s.DependsOn {
			want := types.ServiceConditionHealthy
			if p.Services[other].Restart == "no" {
				want = types.ServiceConditionCompletedSuccessfully
			}
			require.Equal(t, want, d.Condition, "%s waits for %s", name, other)
		}
	}
	for _, name := range []string{"postgres", "kafka", "mail", "gateway"} {
		require.NotEmpty(t, p.Services[name].Volumes, name)
	}
	require.Contains(t, p.Services["settings"].DependsOn, "database")
	require.Contains(t, p.Services["settings"].DependsOn, "kafka")
	for name, s := range p.Services {
		for _, port := range s.Ports {
			require.True(t, name == "traefik" || port.HostIP == "127.0.0.1", "%s is open to other machines", name)
		}
	}
}

func TestTheServicesKnowEveryVariableTheyAreGiven(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	known := []string{}
	for f := range reflect.TypeFor[app.Config]().Fields() {
		known = append(known, f.Tag.Get("env"))
	}
	for _, name := range []string{"settings", "contacts", "booking", "forms", "webhooks"} {
		for variable := range p.Services[name].Environment {
			require.True(t, slices.Contains(known, variable), "%s is given %s", name, variable)
		}
	}
}

func TestVersionsAreThoseTheLocalRunUses(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	for path, want := range map[string]string{
		"local/build.go":  `traefikVersion = "` + tag(p, "traefik") + `"`,
		"local/apache.go": `apacheVersion = "` + tag(p, "kafka") + `"`,
	} {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(source), want)
	}
	source, err := os.ReadFile("../libs/db/pgserver/binaries.go")
	require.NoError(t, err)
	require.Contains(t, string(source), `npmVersion = "`+tag(p, "postgres")+`.`)
}

func tag(p *types.Project, service string) string {
	_, t, _ := strings.Cut(p.Services[service].Image, ":")
	return t
}

func TestTheImageHoldsEveryProgramThatTheComposeFileStarts(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	for name, s := range p.Services {
		if s.Build == nil {
			continue
		}
		program := s.Command[0]
		switch program {
		case "local":
			require.Contains(t, string(dockerfile), "./deploy/local", name)
		case "gateway":
			require.Contains(t, string(dockerfile), "/out/gateway ./gateway", name)
		default:
			require.Equal(t, name, program)
			require.Contains(t, string(dockerfile), "./services/...", name)
		}
	}
}
