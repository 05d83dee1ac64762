// Package pruning finds the rows of a row group that a predicate may be true of, from what a file says about its values.
//
// The libraries for Go hand out statistics, page indexes and bloom filters, and leave the decision to their users. This is the
// simplest right decision, and it believes all that a library returns: a driver measures the library.
package pruning

// Range is the rows from From up to, but without, To, counted from the beginning of their row group.
type Range struct{ From, To int64 }

// A Selection is ranges of rows that are not empty, in ascending order, with a gap between any two.
type Selection []Range

// Rows is the number of rows.
func (s Selection) Rows() int64 {
	var rows int64
	for _, part := range s {
		rows += part.To - part.From
	}
	return rows
}

// with is the selection together with a range that does not begin before any of its ranges.
func (s Selection) with(part Range) Selection {
	if part.From >= part.To {
		return s
	}
	if last := len(s) - 1; last >= 0 && part.From <= s[last].To {
		s[last].To = max(s[last].To, part.To)
		return s
	}
	return append(s, part)
}

// and is the rows of both selections.
func (s Selection) and(other Selection) Selection {
	var both Selection
	for i, j := 0, 0; i < len(s) && j < len(other); {
		both = both.with(Range{max(s[i].From, other[j].From), min(s[i].To, other[j].To)})
		if s[i].To < other[j].To {
			i++
		} else {
			j++
		}
	}
	return both
}

// or is the rows of either selection.
func (s Selection) or(other Selection) Selection {
	var either Selection
	for i, j := 0, 0; i < len(s) || j < len(other); {
		if j == len(other) || (i < len(s) && s[i].From <= other[j].From) {
			either = either.with(s[i])
			i++
		} else {
			either = either.with(other[j])
			j++
		}
	}
	return either
}
