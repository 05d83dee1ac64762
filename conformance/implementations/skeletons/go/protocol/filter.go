package protocol

import "slices"

// A Filter keeps the rows of which a predicate is true.
type Filter struct {
	predicate Predicate
	columns   []string // that are read: those of the answer, then those of the predicate that are not among them
	answered  int
}

// NewFilter is the filter of a query with these columns in its answer.
func NewFilter(predicate Predicate, answer []string) Filter {
	columns := slices.Clone(answer)
	for _, name := range predicate.Columns() {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return Filter{predicate, columns, len(answer)}
}

// Columns are those that a row has when it comes to the filter.
func (f Filter) Columns() []string { return f.columns }

// Keep returns the columns of the answer of those rows that the predicate is true of.
func (f Filter) Keep(rows [][]Value) ([][]Value, error) {
	var kept [][]Value
	for _, row := range rows {
		truth, err := f.predicate.Truth(func(name string) Value { return row[slices.Index(f.columns, name)] })
		if err != nil {
			return nil, err
		}
		if truth == True {
			kept = append(kept, row[:f.answered])
		}
	}
	return kept, nil
}
