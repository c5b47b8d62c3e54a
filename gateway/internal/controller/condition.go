package controller

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// subject is something that fails and succeeds by itself, named by the sentence about its failure.
type subject string

const (
	subjectKafka       subject = "Kafka cannot be used"
	subjectCertificate subject = "the certificate cannot be used"
	subjectFile        subject = "the configuration cannot be written"
	subjectTraefik     subject = "Traefik does not serve the configuration"
	subjectPresence    subject = "presence cannot be published"
)

// condition compares the configuration that Traefik should serve with the one that it serves, and keeps what goes wrong.
type condition struct {
	mu  sync.Mutex
	now situation
}

// situation is a condition at one moment. It does not change.
type situation struct {
	// wanted is made of the newest tables; inForce reports that Traefik serves it.
	wanted  *Configuration
	inForce bool
	apps    int64 // the version in force
	since   time.Time
	// problems are the reasons by subject, each until its own subject succeeds.
	problems map[subject]error
}

// current returns the situation of now.
func (s *condition) current() situation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// want takes the configuration that Traefik should serve, and reports whether it is another than before.
func (s *condition) want(c *Configuration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.now.wanted == nil || s.now.wanted.Hash != c.Hash
	s.now.wanted, s.now.inForce = c, s.now.inForce && !fresh
	return fresh
}

// missing notes that Traefik does not serve what is wanted.
func (s *condition) missing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.inForce = false
}

// serves notes that Traefik serves what is wanted, with this version of the apps, and reports whether it did not before.
func (s *condition) serves(apps int64, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := !s.now.inForce
	s.now.inForce, s.now.apps, s.now.since = true, apps, since
	return news
}

// tried notes how a subject went, and reports whether that is news: it failed and had not before, or the other way round.
func (s *condition) tried(of subject, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, failed := s.now.problems[of]
	problems := map[subject]error{}
	maps.Copy(problems, s.now.problems)
	if problems[of] = err; err == nil {
		delete(problems, of)
	}
	s.now.problems = problems
	return failed != (err != nil)
}

// sentences are the problems with their reasons, in one order.
func (s situation) sentences() []string {
	var all []string
	for _, of := range slices.Sorted(maps.Keys(s.problems)) {
		all = append(all, string(of)+": "+s.problems[of].Error())
	}
	return all
}

// why is the first of these subjects that fails, and otherwise if none does.
func (s situation) why(otherwise string, of ...subject) string {
	i := slices.IndexFunc(of, func(o subject) bool { return s.problems[o] != nil })
	if i < 0 {
		return otherwise
	}
	return string(of[i])
}
