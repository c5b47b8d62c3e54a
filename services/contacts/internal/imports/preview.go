package imports

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/draft"
)

// previewRequest asks what the first rows become with a mapping.
type previewRequest struct {
	ID      uuid.UUID           `json:"id"`
	Mapping opt.Value[[]string] `json:"mapping,omitzero" maxItems:"500" doc:"The target of each column, as for start-import; without it the saved one counts."`
}

// importPreview is what the first rows of a file become.
type importPreview struct {
	Columns []draft.PreviewedColumn `json:"columns" doc:"The columns of the file, in their order."`
}

// previewImport reads the first rows of an import that is not started as the import would, and stores nothing.
func (r *Room) previewImport(ctx context.Context, tx *db.Tx, in previewRequest) (out importPreview, err error) {
	m, err := readImport(ctx, tx, in.ID)
	if err != nil {
		return out, err
	}
	if err := m.waits(); err != nil {
		return out, err
	}
	if err := m.remap(ctx, tx, in.Mapping); err != nil {
		return out, err
	}
	reader := draft.Reader{Headers: m.Headers, Mapping: m.Mapping, Team: r.Identity.Team()}
	if reader.Clean, err = r.field.NewCleaner(ctx, tx, "contact"); err != nil {
		return out, err
	}
	text, err := textOf(ctx, tx, m.ID)
	if err != nil {
		return out, err
	}
	f, err := csvfile.Reopen(text, m.Options.Separator, m.Options.Header)
	if err != nil {
		return out, fault.Invalid("options", draft.Unreadable(err, err.Error()))
	}
	return importPreview{reader.Preview(f.Rows())}, nil
}
