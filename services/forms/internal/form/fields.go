package form

import (
	"maps"
	"slices"
	"sync/atomic"

	"frontdesk/libs/bus"
	"frontdesk/libs/form"
	"frontdesk/proto"
)

// fieldTable is the copy of the custom fields. revision says whether something worked out with them is out of date.
type fieldTable struct {
	*bus.Table[form.Field]
	// revision grows with each change.
	revision atomic.Int64
}

func newFieldTable(b *bus.Bus) *fieldTable {
	t := &fieldTable{}
	t.Table = bus.NewTable(b, proto.FieldTopic, func(_ string, value []byte) (form.Field, int64, error) {
		var f struct {
			Entity, Key, Label, Type string
			Options                  []string
			Archived                 bool
		}
		env, err := bus.OpenEnvelope(value, &f)
		return form.Field(f), env.GetVersion(), err
	})
	t.Watch(func(string, form.Field, bool) { t.revision.Add(1) })
	return t
}

// named gives all fields, archived ones too, by the targets that name them.
func (t *fieldTable) named() form.Fields {
	return form.FieldsOf(slices.Collect(maps.Values(t.All()))...)
}
