package proto

import (
	"slices"
	"strings"
)

// Right is one thing that a user may do at the brokers. Everything else is refused.
type Right struct {
	Resource  Resource
	Name      string
	Operation Operation
}

// Resource is what a Right is about.
type Resource string

// Operation is what a Right allows. Read and Write imply Describe.
type Operation string

// The resources and operations of Kafka that rights use, in the words of its tools.
const (
	TopicResource Resource = "Topic"
	GroupResource Resource = "Group"

	Read            Operation = "Read"
	Write           Operation = "Write"
	Create          Operation = "Create"
	Describe        Operation = "Describe"
	AlterConfigs    Operation = "AlterConfigs"
	DescribeConfigs Operation = "DescribeConfigs"
)

// Users are the users at the brokers, one for each process. They are named like their processes.
func Users() []string { return append(slices.Clone(Services), Gateway) }

// Rights are what a user may do, as follows from Topics. It writes the topics on which it publishes and reads those that it
// consumes or copies. It reads those of state that it writes too: the owner compares them with what it sent. It makes and sets the
// topics that it keeps, and joins its own consumer group. Which topics and settings there are is open to all of them, because each
// process verifies these before it starts, and so is how far the readers of a topic are to those who write it.
func Rights(user string) []Right {
	var all []Right
	add := func(resource Resource, name string, operations ...Operation) {
		for _, o := range operations {
			if r := (Right{resource, name, o}); !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	if !slices.Contains(Users(), user) {
		return nil
	}
	if user != Gateway {
		add(GroupResource, user, Read)
	}
	for _, t := range Topics {
		writes := t.Owner == user || slices.Contains(t.Writers, user)
		reads := slices.Contains(t.Readers, user) || slices.Contains(t.Copies, user)
		if writes {
			add(TopicResource, t.Name, Write)
			for _, group := range t.Readers {
				if group != user {
					add(GroupResource, group, Describe)
				}
			}
		}
		if reads || writes && t.Compacted {
			add(TopicResource, t.Name, Read)
		}
		if keeper(t) == user {
			add(TopicResource, t.Name, Create, AlterConfigs)
		}
		add(TopicResource, t.Name, Describe, DescribeConfigs)
	}
	return all
}

// keeper is the service that makes a topic anew and sets how it is kept: the one that it is named after, or settings.
func keeper(t Topic) string {
	if name, _, _ := strings.Cut(t.Name, "."); slices.Contains(Services, name) {
		return name
	}
	return "settings"
}
