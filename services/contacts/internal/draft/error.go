package draft

import (
	"errors"

	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/csvfile"
)

// ImportError is a row that was not imported, a cell that was left out, or why the import has failed. Row 0 is the whole file.
// Code that works on an import returns it as an error to end the import.
type ImportError struct {
	Row     int    `json:"row" doc:"The number of the row, counted from 1 with the headers; 0 stands for the whole file."`
	Column  string `json:"column" doc:"The column that it is about; empty for none."`
	Code    string `json:"code" doc:"The code of the error."`
	Message string `json:"message" doc:"A sentence for people."`
	Dropped string `json:"dropped" enum:"cell,row" doc:"What was left out: the cell alone, or the row."`
	// Details are the code and the facts of a fault.Problem. Errors from before they were kept have none.
	Details map[string]any `json:"details" doc:"What is wrong, as in data.details of a refusal: a code, and the values that the sentence names. Empty for older errors."`
}

// What an error costs.
const (
	DroppedCell = "cell"
	droppedRow  = "row"
)

// NewError makes the error of a row that is left out. The text of p is its message.
func NewError(row int, column, code string, p fault.Problem) ImportError {
	e := ImportError{row, column, code, p.Text, droppedRow, p.Details()}
	if allowed, ok := e.Details["allowed"].([]string); ok {
		// A file may have many rows with such an error, and each stores the list.
		e.Details["allowed"] = allowed[:min(len(allowed), 10)]
	}
	return e
}

func (e ImportError) Error() string { return e.Code + ": " + e.Message }

// Unreadable is the problem of a file that csvfile could not open, in the words of text.
func Unreadable(err error, text string) fault.Problem {
	var u csvfile.Unreadable
	errors.As(err, &u)
	if u.Max > 0 {
		return fault.NewProblem(u.Code, text, "max", u.Max)
	}
	return fault.NewProblem(u.Code, text)
}
