package field

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/csvfile"
)

// Exported are the custom fields that are columns of an export.
func Exported(ctx context.Context, tx *db.Tx, entity string) ([]Field, error) {
	return readFields(ctx, tx, `select `+fieldColumns+` from field where entity = $1 and not archived order by sort_order, created_at, id`, entity)
}

// Labels are the headers of the columns that AppendValues fills.
func Labels(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Label
	}
	return out
}

// AppendValues adds a cell for each custom field, the options of a choice as csvfile.Join writes them.
func AppendValues(cells []string, raw []byte, fields []Field) ([]string, error) {
	values := map[string]any{}
	if len(fields) > 0 && string(raw) != "{}" {
		if err := json.Unmarshal(raw, &values); err != nil {
			return cells, err
		}
	}
	for _, f := range fields {
		cells = append(cells, CellText(values[f.Key]))
	}
	return cells, nil
}

// CellText is a custom value as a cell.
func CellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if whole, decimals, _ := strings.Cut(text, "."); len(decimals) == 3 && len(strings.TrimPrefix(whole, "-")) < 4 {
			text += "0" // or 1.234 looks like a thousand where points stand between thousands
		}
		return text
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = CellText(x)
		}
		return csvfile.Join(parts)
	}
	return fmt.Sprint(v)
}

// Stamp is a time as a cell; empty for none.
func Stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// OwnerNames gives the names of owners, each looked up once.
func (r *Room) OwnerNames() func(*int64) string {
	known := map[int64]string{}
	return func(id *int64) string {
		if id == nil {
			return ""
		}
		name, ok := known[*id]
		if !ok {
			name = strconv.FormatInt(*id, 10)
			if u, found := r.Identity.User(*id); found && u.GetName() != "" {
				name = u.GetName()
			}
			known[*id] = name
		}
		return name
	}
}
