package draft

import (
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
)

// PreviewedColumn is a column of a file with its first values.
type PreviewedColumn struct {
	Header string           `json:"header" doc:"The name of the column, as the file has it."`
	Target string           `json:"target" doc:"Where it goes; empty for nowhere."`
	Values []previewedValue `json:"values" doc:"The first three of its cells that are filled, of the first fifty rows."`
}

// previewedValue is a cell of a file and what an import makes of it.
type previewedValue struct {
	Row     int                    `json:"row" doc:"The number of its row."`
	Cell    string                 `json:"cell" doc:"What stands in the file; the first 200 characters."`
	Becomes string                 `json:"becomes" doc:"What would be stored of it, as an export writes it. Empty if nothing would: the column goes nowhere, another column of the row has the value already, or error says why."`
	Error   opt.Value[ImportError] `json:"error" doc:"Why the cell, or its whole row, would be left out; null if neither would."`
}

const (
	previewRows   = 50
	previewValues = 3
	shown         = 200 // characters of a value
)

// Preview is what Read makes of the first filled cells of each column, three of each, among the first fifty rows.
func (r *Reader) Preview(rows *csvfile.Rows) []PreviewedColumn {
	columns := make([]PreviewedColumn, len(r.Headers))
	for i := range columns {
		columns[i] = PreviewedColumn{r.Headers[i], r.Mapping[i], []previewedValue{}}
	}
	for range previewRows {
		row, err := rows.Next()
		if err != nil {
			break
		}
		r.preview(row, columns)
	}
	return columns
}

func (r *Reader) preview(row csvfile.Row, columns []PreviewedColumn) {
	taken := map[int]*ImportError{}
	d, failed := r.read(row, func(column int, dropped *ImportError) { taken[column] = dropped })
	for i, cell := range d.Cells {
		if cell == "" || len(columns[i].Values) == previewValues {
			continue
		}
		v := previewedValue{Row: row.Number, Cell: csvfile.Shorten(cell, shown)}
		switch e, took := taken[i]; {
		case failed != nil:
			v.Error = opt.Of(*failed)
		case e != nil:
			v.Error = opt.Of(*e)
		case took:
			v.Becomes = csvfile.Shorten(r.stored(r.Mapping[i], cell), shown)
		}
		columns[i].Values = append(columns[i].Values, v)
	}
}

// stored is what a cell becomes for a target, as text.
func (r *Reader) stored(target, cell string) string {
	d := Draft{Contact: contact.Contact{Fields: map[string]any{}}}
	r.put(&d, target, cell)
	for _, u := range r.Team {
		if d.OwnerUserID != nil && u.GetId() == *d.OwnerUserID {
			return u.GetName()
		}
	}
	for _, v := range d.Fields {
		return field.CellText(v)
	}
	return d.FirstName + d.LastName + d.Email + d.Phone + d.Company + d.Source + d.Status + csvfile.Join(d.Tags)
}
