package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// tag marks the people of the demo.
const tag = "demo"

// apart is how long somebody waits between two visits at least.
const apart = 3 * 24 * time.Hour

type colleague struct {
	name, email string
	days        []int // ISO weekdays
}

type offer struct {
	name, description, price, location string
	minutes                            int
	review                             bool
}

type organization struct{ name, vat, email, website, street, postcode, city, country string }

type person struct {
	first, last, email, phone, status, source, note string
	tags                                            []string
	insurer                                         string
	organization                                    int // index of the person's organization, -1 for a person without one
	role                                            string
	staff                                           int
	visits                                          []visit
}

type visit struct {
	service int
	start   time.Time
	// status after the visit was booked: confirmed, pending, completed, no_show or cancelled.
	status string
	note   string
}

// Names by which remove finds what fill has made.
const (
	closure = "Year's end"
	webhook = "Accounting"
	insurer = "Insurer"
)

// forms are the names of the forms and the templates that they begin with. Visitors write to the first two.
var forms = []struct{ name, template string }{{"Ask us anything", "contact"}, {"Call me back", "callback_request"}, {"Newsletter", "newsletter"}}

const (
	firstVisit = iota
	followUp
	homeVisit
	advice
)

var (
	staff = []colleague{
		{"Noor Claes", "noor.claes@linde.example.com", []int{1, 2, 3, 4, 5}},
		{"Jonas Peeters", "jonas.peeters@linde.example.com", []int{2, 3, 4, 5, 6}},
		{"Emma Willems", "emma.willems@linde.example.com", []int{1, 2, 4, 5}},
	}
	services = []offer{
		{"First visit", "We listen, examine and make a plan together.", "75", "in_person", 60, false},
		{"Follow-up", "Treatment and exercises, step by step.", "45.50", "in_person", 30, false},
		{"Home visit", "We come to you, within ten kilometres of Ghent.", "95", "client", 90, true},
		{"Advice by video", "A question about pain, sport or work, answered face to face.", "35", "online", 30, false},
	}
	organizations = []organization{
		{"Atletiekclub De Leie", "", "info@leie.example.com", "https://leie.example.com", "Watersportlaan 3", "9000", "Gent", "BE"},
		{"Bakkerij Van Hove", "", "bakkerij@vanhove.example.com", "", "Brugsepoortstraat 41", "9000", "Gent", "BE"},
		{"Basisschool De Klaver", "", "school@klaver.example.com", "https://klaver.example.com", "Klaverdries 12", "9031", "Drongen", "BE"},
		{"Bouwwerken Maes", "", "kantoor@maes.example.com", "https://maes.example.com", "Industrieweg 88", "9032", "Wondelgem", "BE"},
		{"Brasserie Au Coin", "", "bonjour@aucoin.example.com", "", "Rue de la Station 5", "7500", "Tournai", "BE"},
		{"Dansstudio Arabesk", "", "dans@arabesk.example.com", "https://arabesk.example.com", "Coupure 210", "9000", "Gent", "BE"},
		{"Fietsen Lievens", "", "winkel@lievens.example.com", "https://lievens.example.com", "Kortrijksesteenweg 301", "9000", "Gent", "BE"},
		{"Huisartsen Sint-Pieters", "", "balie@sintpieters.example.com", "https://sintpieters.example.com", "Smidsestraat 20", "9000", "Gent", "BE"},
		{"Kinderdagverblijf Pluis", "", "hallo@pluis.example.com", "", "Meersstraat 9", "9000", "Gent", "BE"},
		{"Orchester am Rhein", "", "buero@rheinorchester.example.com", "https://rheinorchester.example.com", "Rheinallee 7", "53173", "Bonn", "DE"},
		{"Roeivereniging Sas", "", "roeien@sas.example.com", "https://sas.example.com", "Sassekaai 45", "9000", "Gent", "BE"},
		{"Woonzorg Ter Linden", "", "onthaal@terlinden.example.com", "https://terlinden.example.com", "Lindenhof 1", "9040", "Sint-Amandsberg", "BE"},
	}
	firstNames = strings.Fields("Lotte Arthur Marie Louis Olivia Noah Julia Liam Mila Lucas Elise Adam Camille Victor Anna Jules Nina Finn Louise Mohamed Amira Youssef " +
		"Sofie Pieter Katrien Bram Charlotte Wout Hanne Stijn Chloé Mathieu Léa Antoine Manon Hugo Greta Felix Hannah Jonas Ines Tiago Aylin Emre Zofia Jan Siobhán Owen")
	lastNames = []string{"Janssens", "Maes", "Jacobs", "Mertens", "De Smet", "Dubois", "Lambert", "Dupont", "Van den Broeck", "Goossens", "Hermans", "Wouters", "Aerts",
		"De Clercq", "Desmet", "Martens", "Leroy", "Renard", "Yılmaz", "El Amrani", "Nowak", "O'Brien", "Schmitz", "Weber", "Silva", "Lefèvre", "Segers", "Verhaeghe",
		"Coppens", "Bogaert", "Lemmens", "Hendrickx", "Vandenberghe", "Baert", "Pauwels", "Claeys"}
	themes   = []string{"back", "knee", "shoulder", "running", "pregnancy", "work", "neck", "recovery"}
	insurers = []string{"CM", "Helan", "Solidaris", "Liberale Mutualiteit", "Partenamut"}
	sources  = []string{"website", "website", "website", "referral", "referral", "phone", "sports club", "walk-in"}
	notes    = []string{"Prefers mornings.", "Trains for the Ghent half marathon in spring.", "Works at a desk all day; the chair was adjusted.", "Call, do not mail.",
		"Brings a report of the hospital next time.", "Exercises go well, fewer visits from now on.", "Asked for an invoice on the name of the employer.", "Speaks French at home."}
	plain = strings.NewReplacer(" ", "", "'", "", "é", "e", "è", "e", "á", "a", "ı", "i")
	clock = []int{9 * 60, 10 * 60, 11 * 60, 13 * 60, 14 * 60, 15 * 60, 16 * 60} // minutes of a day at which a visit may start
)

// plan returns so many people and their visits on a day, in the business's zone: so many months of visits before it, and half as many after.
// The same day and zone give the same plan.
func plan(now time.Time, months, count int) []person {
	r := rand.New(rand.NewPCG(2024, 7))
	all := people(r, count)
	for s := range staff {
		book(r, all, s, now, months)
	}
	return all
}

// people each have an address of their own; three in four belong to a colleague and come in for visits. There are names for 1,700.
func people(r *rand.Rand, count int) []person {
	var all []person
	named := map[string]bool{}
	for len(all) < count {
		p := person{first: firstNames[r.IntN(len(firstNames))], last: lastNames[r.IntN(len(lastNames))], organization: -1, staff: len(all) % len(staff)}
		if named[p.first+p.last] {
			continue
		}
		named[p.first+p.last] = true
		p.email = plain.Replace(strings.ToLower(p.first+"."+p.last)) + "@example.com"
		p.source, p.insurer, p.tags = sources[r.IntN(len(sources))], insurers[r.IntN(len(insurers))], []string{tag, themes[r.IntN(len(themes))]}
		if r.IntN(10) < 7 {
			p.phone = fmt.Sprintf("04%02d %02d %02d %02d", 70+r.IntN(30), r.IntN(100), r.IntN(100), r.IntN(100))
		}
		if r.IntN(3) == 0 {
			p.note = notes[r.IntN(len(notes))]
		}
		if r.IntN(4) == 0 {
			p.organization, p.role = r.IntN(len(organizations)), []string{"Member", "Coach", "Employee", "Manager", "Teacher"}[r.IntN(5)]
		}
		p.status = "lead"
		all = append(all, p)
	}
	return all
}

// book gives the clients of a colleague visits, one client after the other over the months: fewer in the first ones, and ahead as
// far as people plan.
func book(r *rand.Rand, people []person, colleague int, now time.Time, months int) {
	var clients []int
	for i := range people {
		if people[i].staff == colleague && i%4 != 3 {
			clients = append(clients, i)
		}
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	first, last := today.AddDate(0, -months, 0), today.AddDate(0, (months+1)/2, 0)
	past := today.Sub(first).Hours()
	current := min(24, len(clients)) // clients at a time
	if current == 0 {
		return
	}
	for day := first; day.Before(last); day = day.AddDate(0, 0, 1) {
		if !staff[colleague].works(day) || day.Month() == time.December && day.Day() >= 25 {
			continue
		}
		ahead := day.Sub(today).Hours() / 24
		share := 0.6 + 0.25*day.Sub(first).Hours()/past
		if ahead > 0 {
			share = 0.85 * math.Exp(-ahead/25)
		}
		// The clients of the day follow the share of the time that has passed.
		begin := int(math.Min(1, day.Sub(first).Hours()/past) * float64(len(clients)-current))
		for _, minute := range clock {
			if r.Float64() > share {
				continue
			}
			p := &people[clients[begin+r.IntN(current)]]
			start := time.Date(day.Year(), day.Month(), day.Day(), minute/60, minute%60, 0, 0, day.Location())
			if n := len(p.visits); n == 0 || start.Sub(p.visits[n-1].start) > apart {
				p.visit(r, start, now)
			}
		}
	}
}

func (c colleague) works(day time.Time) bool {
	weekday := int(day.Weekday()+6)%7 + 1
	return slices.Contains(c.days, weekday)
}

// visit adds one at a start: the first of a person takes an hour, and a home visit only fits at the end of a day.
func (p *person) visit(r *rand.Rand, start, now time.Time) {
	v := visit{start: start, service: followUp, status: "confirmed"}
	chance := r.IntN(100)
	switch {
	case len(p.visits) == 0:
		v.service = firstVisit
	case start.Hour() == 16 && chance < 30:
		v.service = homeVisit
	case chance < 12:
		v.service = advice
	}
	end := start.Add(time.Duration(services[v.service].minutes) * time.Minute)
	outcome := r.IntN(100)
	switch {
	case outcome < 5:
		v.status = "cancelled"
	case end.Before(now) && outcome < 9:
		v.status = "no_show"
	case end.Before(now):
		v.status = "completed"
		p.status = "customer"
	case outcome < 9:
		v.status = "pending"
	}
	if r.IntN(12) == 0 {
		v.note = notes[r.IntN(len(notes))]
	}
	p.visits = append(p.visits, v)
}
