package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"frontdesk/libs/bus"
)

// state is the content of run.json, which other programs and tests read. It holds passwords, so only its owner can read it.
type state struct {
	PID       int    `json:"pid"`
	Ready     bool   `json:"ready"`
	DataDir   string `json:"data_dir"`
	Gateway   string `json:"gateway"`    // the entry point on loopback
	PublicURL string `json:"public_url"` // what links and mails say
	MailPage  string `json:"mail_page"`  // empty with SVC_SMTP_URL
	Dashboard string `json:"dashboard"`  // the controller's page
	Traefik   string `json:"traefik"`    // its API
	Kafka     string `json:"kafka"`      // host:port,… for KafkaLogin
	// KafkaLogin is the administrator's, or with KAFKA_BROKERS the one of all processes.
	KafkaLogin bus.LoginOptions `json:"kafka_login"`
	// KafkaUsers is host:port,… for the users of the processes.
	KafkaUsers string `json:"kafka_users"`
	// Database is the administrator's URL of the database that holds all schemas.
	Database  string                  `json:"database_url"`
	Admin     stateAdmin              `json:"admin"`
	Processes map[string]stateProcess `json:"processes"`
}

type stateAdmin struct {
	Login string `json:"login"`
	// Password is empty when SVC_ADMIN_PASSWORD gave it.
	Password string `json:"password"`
}

type stateProcess struct {
	PID      int    `json:"pid"` // 0 before its first start
	Restarts int    `json:"restarts"`
	URL      string `json:"url"`
	Admin    string `json:"admin"`
	Log      string `json:"log"`
}

// target is one of targets.json, from which Prometheus learns whom to ask (file_sd_configs).
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

var numbered = regexp.MustCompile(`-[0-9]+$`)

// targets are the admin ports of all processes, with the labels that rules and dashboards go by.
func (s state) targets() (all []target) {
	for _, name := range slices.Sorted(maps.Keys(s.Processes)) {
		address, ok := strings.CutPrefix(s.Processes[name].Admin, "http://")
		if !ok {
			continue
		}
		job := "frontdesk"
		if name == "traefik" {
			job = name
		}
		all = append(all, target{[]string{address}, map[string]string{"job": job, "service": numbered.ReplaceAllString(name, "")}})
	}
	return all
}

// stateFile keeps run.json and targets.json up to date.
type stateFile struct {
	dir string
	mu  sync.Mutex
	now state
}

func newStateFile(dir string, now state) *stateFile { return &stateFile{dir: dir, now: now} }

// change applies set and writes the files.
func (f *stateFile) change(set func(*state)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.now)
	return errors.Join(writeJSON(filepath.Join(f.dir, "run.json"), f.now), writeJSON(filepath.Join(f.dir, "targets.json"), f.now.targets()))
}

func (f *stateFile) remove() {
	os.Remove(filepath.Join(f.dir, "run.json"))
	os.Remove(filepath.Join(f.dir, "targets.json"))
}

// processes describes the supervised processes as they run now.
func (s *supervisor) processes() map[string]stateProcess {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]stateProcess{}
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		r := s.running[name]
		all[name] = stateProcess{PID: r.pid, Restarts: r.restarts, URL: r.url, Admin: r.admin, Log: filepath.Join(s.logs, name+".log")}
	}
	return all
}
