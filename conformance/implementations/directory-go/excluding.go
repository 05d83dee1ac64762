package main

import (
	"math"
	"slices"

	"pqassay/protocol"
)

// allowed are the values that a column may have in some rows, null and NaN among them; a column that is not there may have
// any.
type allowed map[string][]protocol.Value

// allowedValues is what the complete distinct sets of a file allow in each row group. Those of pages are not used.
func allowedValues(f *file) []allowed {
	groups := make([]allowed, len(f.footer.RowGroups))
	for i := range groups {
		groups[i] = allowed{}
	}
	for _, one := range entries(f) {
		if one.head.Type != typeDistinctSet || one.head.Granularity == granularityPage {
			continue
		}
		blob, leaves, count, ok := one.open(f)
		if !ok || len(leaves[0].path) != 1 {
			continue
		}
		sets, ok := parseSets(blob, leaves[0], count)
		if !ok {
			continue
		}
		for i := range groups {
			part := sets[0]
			if one.head.Granularity == granularityRowGroup {
				part = sets[i]
			}
			if part.flags&setComplete != 0 {
				groups[i].restrict(leaves[0].path[0], part)
			}
		}
	}
	return groups
}

// restrict takes in what a set allows. If a column has two sets, that of the file and that of a row group, the smaller says more.
func (a allowed) restrict(column string, part set) {
	values := slices.Clone(part.values)
	if part.flags&setNulls != 0 {
		values = append(values, nil)
	}
	if part.flags&setNaN != 0 {
		values = append(values, math.NaN())
	}
	if before, ok := a[column]; !ok || len(values) < len(before) {
		a[column] = values
	}
}

// truths says which truth values a predicate may have.
type truths map[protocol.Truth]bool

// mayBe are the truth values that a predicate may have where columns have allowed values. A comparison is tried with each of
// them, so that zeros and NaN are what they are to the predicate.
func (a allowed) mayBe(predicate protocol.Predicate) truths {
	switch p := predicate.(type) {
	case protocol.All:
		return a.joined(p, protocol.True, func(x, y protocol.Truth) protocol.Truth { return min(x, y) })
	case protocol.Any:
		return a.joined(p, protocol.False, func(x, y protocol.Truth) protocol.Truth { return max(x, y) })
	case protocol.Not:
		opposite := truths{}
		for truth := range a.mayBe(p.Part) {
			opposite[-truth] = true
		}
		return opposite
	}
	anything := truths{protocol.True: true, protocol.Unknown: true, protocol.False: true}
	values, ok := a[predicate.Columns()[0]]
	if !ok {
		return anything
	}
	found := truths{}
	for _, value := range values {
		truth, err := predicate.Truth(func(string) protocol.Value { return value })
		if err != nil { // which the rows will tell, if there are any
			return anything
		}
		found[truth] = true
	}
	return found
}

func (a allowed) joined(parts []protocol.Predicate, start protocol.Truth, join func(x, y protocol.Truth) protocol.Truth) truths {
	all := truths{start: true}
	for _, part := range parts {
		next := truths{}
		for y := range a.mayBe(part) {
			for x := range all {
				next[join(x, y)] = true
			}
		}
		all = next
	}
	return all
}
