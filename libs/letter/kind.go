package letter

// Kind is a kind of mail with words of its own. A request has others than an appointment, though both mails are of one kind in the list of
// what was sent.
type Kind struct {
	Name         string
	Placeholders []Placeholder
}

// Placeholder is a name in braces that a mail replaces.
type Placeholder struct {
	Name string `json:"name" doc:"The name, which stands in braces: {service}."`
	Doc  string `json:"doc" doc:"What stands in its place."`
	// Alone is true for one that takes a line of its own, in the body only.
	Alone bool `json:"alone" doc:"It stands on a line of its own, and not in the subject."`
	// Needed is true for one that has to stand in the body.
	Needed bool `json:"needed" doc:"The body must have it."`
}

// Names of placeholders.
const (
	Greeting    = "greeting"
	Client      = "client"
	Business    = "business"
	Service     = "service"
	Staff       = "staff"
	When        = "when"
	Place       = "place"
	Stays       = "stays"
	Details     = "details"
	ServiceText = "service_text"
	Manage      = "manage"
	Statement   = "statement"
	Confirm     = "confirm"
	Unsubscribe = "unsubscribe"
)

// Kinds of the mails about marketing.
const (
	MarketingConfirm   = "marketing.confirm"
	MarketingConfirmed = "marketing.confirmed"
)

// Request is the kind of the mail about a request where an appointment's would be kind.
func Request(kind string) string { return kind + "_request" }

var (
	anyMail = []Placeholder{
		{Name: Greeting, Doc: "A greeting with the client's name, if it is known."},
		{Name: Client, Doc: "The client's name; empty if it is not known."},
		{Name: Business, Doc: "The name of the business."},
	}
	anyAppointment = append(anyMail[:len(anyMail):len(anyMail)],
		Placeholder{Name: Service, Doc: "The name of the service."},
		Placeholder{Name: Staff, Doc: "Who the appointment is with."},
		Placeholder{Name: When, Doc: "Day, time and time zone."},
		Placeholder{Name: Place, Doc: "Where it takes place, or how it is held."},
		Placeholder{Name: Details, Doc: "A table of service, time, person and place.", Alone: true},
	)
	toPrepare = Placeholder{Name: ServiceText, Doc: "The text that the service has for its mails, such as what to bring.", Alone: true}
	toManage  = Placeholder{Name: Manage, Doc: "The button with which the client changes or cancels.", Alone: true, Needed: true}
	whatStays = Placeholder{Name: Stays, Doc: "A sentence that says what has not changed."}
	statement = Placeholder{Name: Statement, Doc: "The words that the person agrees to."}
	toLeave   = Placeholder{Name: Unsubscribe, Doc: "The link to unsubscribe, in the small print at the foot.", Alone: true, Needed: true}
)

func appointment(name string, more ...Placeholder) Kind {
	return Kind{"appointment." + name, append(anyAppointment[:len(anyAppointment):len(anyAppointment)], more...)}
}

// Kinds are all kinds, in the order in which screens show them.
var Kinds = []Kind{
	appointment("booked", toPrepare, toManage),
	appointment("booked_request", toManage),
	appointment("confirmed", toPrepare, toManage),
	appointment("declined"),
	appointment("reminder", toPrepare, toManage),
	appointment("rescheduled", toManage),
	appointment("rescheduled_request", toManage),
	appointment("place_changed", toManage),
	appointment("place_changed_request", toManage),
	appointment("handed_over", whatStays, toManage),
	appointment("handed_over_request", toManage),
	appointment("cancelled"),
	{MarketingConfirm, append(anyMail[:len(anyMail):len(anyMail)],
		// What was agreed to is recorded as the person has read it.
		Placeholder{Name: Statement, Doc: statement.Doc, Needed: true},
		Placeholder{Name: Confirm, Doc: "The button with which the person agrees.", Alone: true, Needed: true}, toLeave)},
	{MarketingConfirmed, append(anyMail[:len(anyMail):len(anyMail)], statement, toLeave)},
}

// Find is the kind of a name.
func Find(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

func (k Kind) placeholder(name string) (Placeholder, bool) {
	for _, p := range k.Placeholders {
		if p.Name == name {
			return p, true
		}
	}
	return Placeholder{}, false
}
