package imports

import (
	"errors"

	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/csvfile"
)

// importError is a row that was not imported, or why the import has failed. The headers are row 1, and row 0 is the whole file.
// Code that works on an import returns it as an error to end the import.
type importError struct {
	Row     int    `json:"row" doc:"The number of the row; the headers are row 1, and 0 stands for the whole file."`
	Column  string `json:"column" doc:"The column that it is about; empty for none."`
	Code    string `json:"code" doc:"The code of the error."`
	Message string `json:"message" doc:"A sentence for people."`
	// Details are the code and the facts of a fault.Problem. Errors from before they were kept have none.
	Details map[string]any `json:"details" doc:"What is wrong, as in data.details of a refusal: a code, and the values that the sentence names. Empty for older errors."`
}

// newError makes the error of a row. The text of p is its message.
func newError(row int, column, code string, p fault.Problem) importError {
	e := importError{row, column, code, p.Text, p.Details()}
	if allowed, ok := e.Details["allowed"].([]string); ok {
		// A file may have many rows with such an error, and each stores the list.
		e.Details["allowed"] = allowed[:min(len(allowed), 10)]
	}
	return e
}

func (e importError) Error() string { return e.Code + ": " + e.Message }

// unreadable is the problem of a file that csvfile could not open, in the words of text.
func unreadable(err error, text string) fault.Problem {
	var u csvfile.Unreadable
	errors.As(err, &u)
	if u.Max > 0 {
		return fault.NewProblem(u.Code, text, "max", u.Max)
	}
	return fault.NewProblem(u.Code, text)
}
