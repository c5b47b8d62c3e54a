package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/db/pgserver"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const file = "../docker-compose.yml"

var secrets = []string{"POSTGRES_PASSWORD", "SETTINGS_DB_PASSWORD", "CONTACTS_DB_PASSWORD", "BOOKING_DB_PASSWORD",
	"FORMS_DB_PASSWORD", "WEBHOOKS_DB_PASSWORD", "SVC_ADMIN_PASSWORD",
	"SETTINGS_KAFKA_PASSWORD", "CONTACTS_KAFKA_PASSWORD", "BOOKING_KAFKA_PASSWORD", "FORMS_KAFKA_PASSWORD", "WEBHOOKS_KAFKA_PASSWORD", "GATEWAY_KAFKA_PASSWORD",
	"SVC_SHARED_KEY", "SVC_PUBLIC_KEYS", "SETTINGS_KEY", "CONTACTS_KEY", "BOOKING_KEY", "FORMS_KEY", "WEBHOOKS_KEY"}

// given is what the environment says for each secret.
const given = "0123456789abcdef0123456789abcdef"

func load(t *testing.T, without string) (*types.Project, error) {
	t.Helper()
	return loadFiles(t, without, []string{file})
}

func loadFiles(t *testing.T, without string, files []string, env ...string) (*types.Project, error) {
	t.Helper()
	for _, s := range secrets {
		if s != without {
			env = append(env, s+"="+given)
		}
	}
	o, err := cli.NewProjectOptions(files, cli.WithEnv(env), cli.WithProfiles([]string{"observe"}))
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
		require.Equal(t, "http://"+name+"-replicas:8000", *s.Environment["SVC_BASE_URL"])
		require.Equal(t, []string{name + "-replicas"}, s.Networks["edge"].Aliases, "on the network of Traefik and on no other")
		require.Nil(t, s.Networks["data"].Aliases)
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
			// A site without a provider of sign-ins has no client there.
			if named.MatchString(variable) && variable != "SVC_OIDC_CLIENT_SECRET" {
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
	log := p.Services["traefik"].Logging
	require.NotNil(t, log, "the gateway's log holds addresses of visitors")
	require.NotEmpty(t, log.Options["max-size"])
	require.NotEmpty(t, log.Options["max-file"])
	require.True(t, p.Services["traefik"].DependsOn["gateway-files"].Restart, "Traefik reads its files of settings that have changed")
	require.Contains(t, p.Services["settings"].DependsOn, "database")
	require.Contains(t, p.Services["settings"].DependsOn, "users")
}

func TestTheEngineThatItNeedsIsSaid(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	require.NotNil(t, p.Services["settings"].HealthCheck.StartInterval, "what asks for Engine 25")
	for _, path := range []string{file, "README.md"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Regexp(t, "Docker Engine 25 or newer \\(`?start_interval", string(text))
	}
}

func TestNoCommandOfTheRunbookIsAWordOfBash(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(text, -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		require.NotRegexp(t, `(?m)^(\w+=\S+ )*local `, string(b[1]), "bash refuses local outside of a function")
	}
}

func TestNothingIsOpenToOtherMachinesUnlessTold(t *testing.T) {
	for _, files := range [][]string{{file}, {file, "compose.tls.yml"}} {
		for bind, want := range map[string]string{"": "127.0.0.1", "0.0.0.0": "0.0.0.0"} {
			p, err := loadFiles(t, "", files, "SVC_BIND="+bind, "SVC_PUBLIC_URL=https://desk.example.com")
			require.NoError(t, err)
			for name, s := range p.Services {
				for _, port := range s.Ports {
					if name == "traefik" {
						require.Equal(t, want, port.HostIP)
						require.Equal(t, len(files) > 1, port.Target != 8080, "with https the port for the inside is not published")
					} else {
						require.Equal(t, "127.0.0.1", port.HostIP, name)
					}
				}
			}
		}
	}
}

func TestEveryContainerIsConfined(t *testing.T) {
	p, err := loadFiles(t, "", []string{file, "compose.tls.yml"}, "SVC_PUBLIC_URL=https://desk.example.com")
	require.NoError(t, err)
	require.True(t, p.Networks["data"].Internal)
	for name, s := range p.Services {
		require.True(t, s.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, s.CapDrop, name)
		require.Empty(t, s.CapAdd, name)
		require.Equal(t, []string{"no-new-privileges:true"}, s.SecurityOpt, name)
		require.NotNil(t, s.Logging, name)
		require.NotEmpty(t, s.Logging.Options["max-size"], name)
		require.NotEmpty(t, s.Logging.Options["max-file"], name)
		// Our image and Kafka's have users of their own.
		require.True(t, s.Build != nil || name == "kafka" || s.User != "" && s.User != "root", "%s runs as root", name)
		_, edge := s.Networks["edge"]
		_, data := s.Networks["data"]
		switch name {
		case "traefik", "mail", "gateway-files", "prometheus", "grafana", "collector", "jaeger":
			require.True(t, edge && !data, name)
		case "postgres", "kafka", "database", "users", "certificates":
			require.True(t, data && !edge, name)
		default:
			require.True(t, data && edge, name)
		}
		for _, v := range s.Volumes {
			require.NotEmpty(t, v.Source, "%s has a volume without a name at %s", name, v.Target)
		}
	}
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	require.NotContains(t, string(dockerfile), "VOLUME", "each container would leave one without a name behind")
	_, image, _ := strings.Cut(string(dockerfile), "\nFROM scratch\n")
	require.Contains(t, image, "\nUSER 65534:65534\n")
	require.NotContains(t, image, "RUN ", "the image has no shell")
}

func TestTheProfileObserveRunsWhatItsFolderHolds(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	for name, s := range p.Services {
		observes := slices.Contains([]string{"prometheus", "grafana", "collector", "jaeger"}, name)
		require.Equal(t, observes, slices.Equal([]string{"observe"}, s.Profiles), "%s: only who asks for it runs more", name)
		for _, v := range s.Volumes {
			if observes && v.Type == types.VolumeTypeBind {
				require.True(t, v.ReadOnly, v.Source)
				_, err := os.Stat(v.Source)
				require.NoError(t, err, name)
			}
		}
	}
	config, err := os.ReadFile("observe/prometheus/compose.yml")
	require.NoError(t, err)
	for name, s := range p.Services {
		if metrics := s.Environment["SVC_ADMIN_LISTEN"]; metrics != nil && s.Restart != "no" {
			require.Equal(t, ":9000", *metrics, name)
			require.Regexp(t, `\b`+name+`(-replicas)?\b`, string(config), "Prometheus asks all that have metrics")
		}
	}
	require.Contains(t, string(config), "port: 9000")
	require.Contains(t, *p.Services["gateway"].Environment["SVC_TRAEFIK_API"], "traefik:8085")
	require.Contains(t, string(config), "names: [traefik], type: A, port: 8085")
	sources, err := os.ReadFile("observe/grafana/provisioning/datasources/frontdesk.yml")
	require.NoError(t, err)
	for _, address := range []string{"http://prometheus:9090", "http://jaeger:16686", "uid: frontdesk-prometheus"} {
		require.Contains(t, string(sources), address)
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "\nOTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 docker compose --profile observe up")
	var collector struct {
		Receivers struct {
			OTLP struct {
				Protocols struct{ HTTP struct{ Endpoint string } }
			}
		}
		Exporters  map[string]struct{ Endpoint string }
		Extensions map[string]struct{ HTTP struct{ Endpoint string } }
		Service    struct {
			Pipelines map[string]struct{ Exporters []string }
		}
	}
	text, err := os.ReadFile("observe/collector.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &collector))
	require.Equal(t, "0.0.0.0:4318", collector.Receivers.OTLP.Protocols.HTTP.Endpoint)
	require.Equal(t, "http://jaeger:4318", collector.Exporters["otlphttp"].Endpoint)
	require.Equal(t, []string{"otlphttp"}, collector.Service.Pipelines["traces"].Exporters)
	require.Contains(t, p.Services["collector"].HealthCheck.Test, "http://"+collector.Extensions["healthcheckv2"].HTTP.Endpoint+"/status")
}

// A new volume takes the owner of the folder that it covers in the image of the last container that was made, and a tmpfs has the owner root and
// the rights of the folder that it covers.
func TestEveryContainerMayWriteWhereItWrites(t *testing.T) {
	p, err := loadFiles(t, "", []string{file, "compose.tls.yml"}, "SVC_PUBLIC_URL=https://desk.example.com")
	require.NoError(t, err)
	users := map[string]int{}
	for _, s := range p.Services {
		for _, v := range s.Volumes {
			users[v.Source]++
		}
	}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if s.Build == nil && users[v.Source] > 1 {
				require.Regexp(t, `^/(data|certificates|tls)(/|$)`, v.Target, "%s: its image has such a folder, which belongs to its user", name)
			}
		}
		for _, dir := range s.Tmpfs {
			require.Regexp(t, `^/[a-z/]+:size=[0-9]+[mg],mode=1777$`, dir, "%s: it is memory of the machine", name)
		}
	}
}

func TestTemporaryFilesHaveTheRoomThatTheChartGivesThem(t *testing.T) {
	var chart struct {
		Defaults, Gateway struct{ Tmp string }
	}
	text, err := os.ReadFile("kubernetes/values.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &chart))
	p, err := load(t, "")
	require.NoError(t, err)
	for name, size := range map[string]string{"settings": chart.Defaults.Tmp, "contacts": chart.Defaults.Tmp, "booking": chart.Defaults.Tmp, "forms": chart.Defaults.Tmp,
		"webhooks": chart.Defaults.Tmp, "traefik": chart.Gateway.Tmp} {
		require.Contains(t, p.Services[name].Tmpfs, "/tmp:size="+strings.ToLower(strings.TrimSuffix(size, "i"))+",mode=1777", name)
	}
}

func TestKafkaRefusesWhoeverIsNotAUserOfItsOwn(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	// As the image makes properties of variables.
	property := strings.NewReplacer("___", "-", "__", "_", "_", ".")
	properties := map[string]string{}
	for name, value := range p.Services["kafka"].Environment {
		if rest, ok := strings.CutPrefix(name, "KAFKA_"); ok {
			properties[property.Replace(strings.ToLower(rest))] = *value
		}
	}
	source, err := os.ReadFile("local/apache.go")
	require.NoError(t, err)
	for _, name := range []string{"listener.security.protocol.map", "inter.broker.listener.name", "listener.name.admin.ssl.client.auth", "listener.name.controller.ssl.client.auth",
		"ssl.keystore.type", "ssl.truststore.type", "sasl.enabled.mechanisms", "listener.name.users.scram-sha-512.sasl.jaas.config", "authorizer.class.name"} {
		require.NotEmpty(t, properties[name], name)
		require.Contains(t, string(source), `"`+name+`=`+properties[name]+`"`, "the local run has the same, and tests")
	}
	require.Equal(t, "User:CN=broker;User:CN=administrator", properties["super.users"])
	require.NotContains(t, properties["listener.security.protocol.map"], "PLAINTEXT")
	require.NotContains(t, properties["advertised.listeners"], "SSL://", "the image would ask for files of its own")
	for _, name := range []string{"settings", "contacts", "booking", "forms", "webhooks", "gateway"} {
		require.Equal(t, name, *p.Services[name].Environment["SVC_KAFKA_USER"])
		require.Equal(t, "/certificates/public/ca.pem", *p.Services[name].Environment["SVC_KAFKA_CA"])
	}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			require.True(t, v.Source != "kafka-secrets" || name == "certificates" || name == "users", "%s has the key of the authority", name)
			require.True(t, v.Source != "kafka-node" || name == "certificates" || name == "kafka", "%s has the key of the broker", name)
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

func TestThePoolsOfAllReplicasFitIntoPostgres(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	const (
		// Two replicas of each, and a third while they are replaced one by one.
		replicas = 3
		// Provisioning, a dump of each schema, people, and what Postgres keeps for superusers.
		others = 20
	)
	// A process of webhooks listens beside its pool for what is due.
	beside := map[string]int{"webhooks": 1}
	both, most := 0, others
	for name, s := range p.Services {
		url := s.Environment["DATABASE_URL"]
		if url == nil || s.Restart == "no" {
			continue
		}
		cfg, err := db.PoolConfig(*url)
		require.NoError(t, err)
		both += 2 * (int(cfg.MaxConns) + beside[name])
		most += replicas * (int(cfg.MaxConns) + beside[name])
	}
	limit := "max_connections=" + strconv.Itoa(pgserver.MaxConnections)
	require.Contains(t, p.Services["postgres"].Command, limit, "the local run has the same")
	require.LessOrEqual(t, most, pgserver.MaxConnections)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, n := range []int{both, most, pgserver.MaxConnections} {
		require.Contains(t, string(readme), fmt.Sprintf("**%d**", n))
	}
}

func TestVersionsAreThoseTheLocalRunUses(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	for path, want := range map[string]string{
		"local/traefik.go": `traefikVersion = "` + tag(p, "traefik") + `"`,
		"local/apache.go":  `apacheVersion = "` + tag(p, "kafka") + `"`,
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

func TestTheImageHoldsTheBrowserCode(t *testing.T) {
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	for _, dir := range []string{"libs/web", "services/settings/internal/portal/web"} {
		require.FileExists(t, filepath.Join("..", dir, "package-lock.json"))
		require.Contains(t, string(dockerfile), "COPY "+dir+"/package.json "+dir+"/package-lock.json "+dir+"/")
	}
	// As `make ui` does.
	require.Contains(t, string(dockerfile), "node build.mjs")
	require.Contains(t, string(dockerfile), "vite build")
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
			require.Contains(t, string(dockerfile), " ./services/*/ ", name)
		}
	}
}

// What the commands for backup and restore name has to be there.
func TestTheCommandsOfTheReadmeNameWhatTheComposeFileHas(t *testing.T) {
	p, err := load(t, "")
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	commands := regexp.MustCompile(`(?m)^ *docker compose (exec -T|run --rm|stop|start) (\S+)(.*)$`).FindAllStringSubmatch(string(readme), -1)
	require.GreaterOrEqual(t, len(commands), 7)
	user := p.Services["postgres"].Environment["POSTGRES_USER"]
	require.Nil(t, user, "the administrator of PostgreSQL is postgres")
	provisioned := regexp.MustCompile(`/(\w+)\?`).FindStringSubmatch(*p.Services["contacts"].Environment["DATABASE_URL"])
	for _, c := range commands {
		s, ok := p.Services[c[2]]
		require.True(t, ok, c[0])
		require.Equal(t, c[1] == "run --rm" && c[3] == "", s.Restart == "no", "%s: what ends runs anew, what stays up does something else meanwhile", c[0])
		if c[1] == "exec -T" {
			require.Contains(t, c[3], " --username=postgres ", c[0])
			require.Regexp(t, `\b`+provisioned[1]+`\b`, c[3], "%s: the database of the services", c[0])
		}
	}
}
