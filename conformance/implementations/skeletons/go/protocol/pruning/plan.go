package pruning

import (
	"pqassay/protocol"
)

// Facts are what a file says about the values of a column in some rows. What it does not say is nil.
type Facts struct {
	Min, Max  protocol.Value                     // no value but NaN lies beyond them; they need not be values themselves
	NullCount *int64                             // how many rows are null
	OnlyNulls bool                               // whether all rows are
	Holds     func(protocol.Value) (bool, error) // whether a value may be among them
}

// A Unit is some rows with the facts about them: a row group, or a page.
type Unit struct {
	Rows  Range
	Facts Facts
}

// A Layer is units that hold all rows of a row group between them: one row group, or the pages of a column.
type Layer []Unit

// Plan returns the rows of a row group that a predicate may be true of. The function returns the layers of a column, none if
// the file says nothing of it; it is asked once for each time that the predicate names the column.
func Plan(predicate protocol.Predicate, rows int64, layers func(column string) ([]Layer, error)) (Selection, error) {
	planner := planner{Selection(nil).with(Range{0, rows}), layers}
	outcome, err := planner.outcome(predicate)
	return outcome.maybeTrue, err
}

// outcome is the rows of which a predicate may be true, and those of which it may be false. Both are needed, since a negation swaps
// them. (Of what is unknown nothing need be known: it is neither.)
type outcome struct{ maybeTrue, maybeFalse Selection }

type planner struct {
	all    Selection
	layers func(column string) ([]Layer, error)
}

func (p planner) outcome(predicate protocol.Predicate) (outcome, error) {
	switch q := predicate.(type) {
	case protocol.Not:
		inner, err := p.outcome(q.Part)
		return outcome{inner.maybeFalse, inner.maybeTrue}, err
	case protocol.All:
		return p.outcomes(q, outcome{maybeTrue: p.all}, func(a, b outcome) outcome {
			return outcome{a.maybeTrue.and(b.maybeTrue), a.maybeFalse.or(b.maybeFalse)}
		})
	case protocol.Any:
		return p.outcomes(q, outcome{maybeFalse: p.all}, func(a, b outcome) outcome {
			return outcome{a.maybeTrue.or(b.maybeTrue), a.maybeFalse.and(b.maybeFalse)}
		})
	case protocol.Membership:
		return p.outcome(q.Equalities())
	case protocol.Comparison:
		return p.ofLeaf(q.Column, func(facts Facts) (bool, bool, error) { return compared(q, facts) })
	case protocol.NullTest:
		return p.ofLeaf(q.Column, tested)
	}
	return outcome{p.all, p.all}, nil
}

func (p planner) outcomes(parts []protocol.Predicate, start outcome, join func(a, b outcome) outcome) (outcome, error) {
	for _, part := range parts {
		next, err := p.outcome(part)
		if err != nil {
			return outcome{}, err
		}
		start = join(start, next)
	}
	return start, nil
}

// ofLeaf is the outcome on which all layers of a column agree.
func (p planner) ofLeaf(column string, judge func(Facts) (maybeTrue, maybeFalse bool, err error)) (outcome, error) {
	layers, err := p.layers(column)
	if err != nil {
		return outcome{}, err
	}
	agreed := outcome{p.all, p.all}
	for _, layer := range layers {
		var here outcome
		for _, unit := range layer {
			maybeTrue, maybeFalse, err := judge(unit.Facts)
			if err != nil {
				return outcome{}, err
			}
			if maybeTrue {
				here.maybeTrue = here.maybeTrue.with(unit.Rows)
			}
			if maybeFalse {
				here.maybeFalse = here.maybeFalse.with(unit.Rows)
			}
		}
		agreed = outcome{agreed.maybeTrue.and(here.maybeTrue), agreed.maybeFalse.and(here.maybeFalse)}
	}
	return agreed, nil
}

// tested judges "is null".
func tested(facts Facts) (maybeTrue, maybeFalse bool, err error) {
	return facts.NullCount == nil || *facts.NullCount > 0 || facts.OnlyNulls, !facts.OnlyNulls, nil
}

// compared judges a comparison with a literal.
func compared(comparison protocol.Comparison, facts Facts) (maybeTrue, maybeFalse bool, err error) {
	literal := comparison.Literal
	switch {
	case literal == nil || facts.OnlyNulls:
		return false, false, nil // unknown
	case protocol.IsNaN(literal):
		return true, true, nil
	case comparison.Operator == "=" && facts.Holds != nil:
		held, err := facts.Holds(literal)
		if err != nil || !held {
			return false, true, err
		}
	}
	if facts.Min == nil || facts.Max == nil || protocol.IsNaN(facts.Min) || protocol.IsNaN(facts.Max) {
		return true, true, nil
	}
	return compareBounds(comparison.Operator, literal, facts)
}

// compareBounds judges a comparison by bounds that are numbers, texts or bytes.
func compareBounds(operator protocol.Operator, literal protocol.Value, facts Facts) (maybeTrue, maybeFalse bool, err error) {
	least, _, err := protocol.Compare(facts.Min, literal)
	if err != nil {
		return true, true, err
	}
	greatest, _, err := protocol.Compare(facts.Max, literal)
	if err != nil {
		return true, true, err
	}
	holds := func(operator protocol.Operator) bool {
		switch operator {
		case "=":
			return least <= 0 && greatest >= 0
		case "!=":
			return least != 0 || greatest != 0
		case "<", "<=":
			return operator.Holds(least, true)
		default:
			return operator.Holds(greatest, true)
		}
	}
	maybeTrue, maybeFalse = holds(operator), holds(opposites[operator])
	if _, float := facts.Min.(float64); float {
		// NaN lies outside all bounds: it differs from every number, and no other comparison is true of it.
		maybeTrue = maybeTrue || operator == "!="
		maybeFalse = maybeFalse || operator != "!="
	}
	return maybeTrue, maybeFalse, nil
}

var opposites = map[protocol.Operator]protocol.Operator{
	"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}
