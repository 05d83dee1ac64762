package protocol

import "fmt"

// A Truth is one of SQL's three values of truth. They are ordered such that "and" is the least and "or" is the greatest of its
// parts.
type Truth int

const (
	False   Truth = -1
	Unknown Truth = 0
	True    Truth = 1
)

// A Predicate is one of [Comparison], [Membership], [NullTest], [All], [Any] and [Not].
type Predicate interface {
	// Truth is what the predicate says about a row. The function returns the value of a column.
	Truth(row func(column string) Value) (Truth, error)

	// Columns are the names of the columns in the predicate; one may occur several times.
	Columns() []string
}

// An Operator compares: one of = != < <= > >=.
type Operator string

// Comparison compares a column with a literal. It is unknown where one of them is null.
type Comparison struct {
	Operator Operator
	Column   string
	Literal  Value
}

// Membership is true where a column equals one of the literals ("in").
type Membership struct {
	Column   string
	Literals []Value
}

// NullTest is true where a column is null.
type NullTest struct{ Column string }

// All is true where all its parts are ("and").
type All []Predicate

// Any is true where one of its parts is ("or").
type Any []Predicate

// Not is true where its part is false.
type Not struct{ Part Predicate }

// Truth of a comparison.
func (c Comparison) Truth(row func(string) Value) (Truth, error) {
	value := row(c.Column)
	if value == nil || c.Literal == nil {
		return Unknown, nil
	}
	order, ordered, err := Compare(value, c.Literal)
	if err != nil {
		return Unknown, err
	}
	return truthOf(c.Operator.Holds(order, ordered)), nil
}

// Holds says whether the operator is true of two values with this order; see [Compare].
func (o Operator) Holds(order int, ordered bool) bool {
	if !ordered {
		return o == "!="
	}
	switch o {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func truthOf(holds bool) Truth {
	if holds {
		return True
	}
	return False
}

// Truth of a membership: unknown where the column is null, or equals no literal and one of them is null.
func (m Membership) Truth(row func(string) Value) (Truth, error) {
	return m.Equalities().Truth(row)
}

// Equalities are the comparisons that a membership stands for.
func (m Membership) Equalities() Any {
	parts := make(Any, len(m.Literals))
	for i, literal := range m.Literals {
		parts[i] = Comparison{"=", m.Column, literal}
	}
	return parts
}

// Truth of a null test, which is never unknown.
func (n NullTest) Truth(row func(string) Value) (Truth, error) {
	return truthOf(row(n.Column) == nil), nil
}

// Truth of a conjunction.
func (a All) Truth(row func(string) Value) (Truth, error) {
	least := True
	for _, part := range a {
		truth, err := part.Truth(row)
		if err != nil {
			return Unknown, err
		}
		least = min(least, truth)
	}
	return least, nil
}

// Truth of a disjunction.
func (a Any) Truth(row func(string) Value) (Truth, error) {
	greatest := False
	for _, part := range a {
		truth, err := part.Truth(row)
		if err != nil {
			return Unknown, err
		}
		greatest = max(greatest, truth)
	}
	return greatest, nil
}

// Truth of a negation.
func (n Not) Truth(row func(string) Value) (Truth, error) {
	truth, err := n.Part.Truth(row)
	return -truth, err
}

// Columns of a comparison: one.
func (c Comparison) Columns() []string { return []string{c.Column} }

// Columns of a membership: one.
func (m Membership) Columns() []string { return []string{m.Column} }

// Columns of a null test: one.
func (n NullTest) Columns() []string { return []string{n.Column} }

// Columns of all parts.
func (a All) Columns() []string { return columnsOf(a) }

// Columns of all parts.
func (a Any) Columns() []string { return columnsOf(a) }

// Columns of the negated part.
func (n Not) Columns() []string { return n.Part.Columns() }

func columnsOf(parts []Predicate) []string {
	var columns []string
	for _, part := range parts {
		columns = append(columns, part.Columns()...)
	}
	return columns
}

// ReadPredicate reads a predicate from decoded JSON, in which numbers are [encoding/json.Number].
func ReadPredicate(tree any) (Predicate, error) {
	parts, ok := tree.([]any)
	if !ok || len(parts) < 2 {
		return nil, fmt.Errorf("%v is not a predicate", tree)
	}
	operator, ok := parts[0].(string)
	if !ok {
		return nil, fmt.Errorf("%v does not begin with an operator", tree)
	}
	switch operator {
	case "and":
		inner, err := readPredicates(parts[1:])
		return All(inner), err
	case "or":
		inner, err := readPredicates(parts[1:])
		return Any(inner), err
	case "not":
		inner, err := ReadPredicate(parts[1])
		return Not{inner}, err
	}
	column, ok := parts[1].(string)
	if !ok {
		return nil, fmt.Errorf("%v does not name a column", tree)
	}
	return readLeaf(operator, column, parts[2:])
}

func readPredicates(trees []any) ([]Predicate, error) {
	predicates := make([]Predicate, len(trees))
	for i, tree := range trees {
		var err error
		if predicates[i], err = ReadPredicate(tree); err != nil {
			return nil, err
		}
	}
	return predicates, nil
}

func readLeaf(operator, column string, operands []any) (Predicate, error) {
	switch operator {
	case "is null":
		return NullTest{column}, nil
	case "is not null":
		return Not{NullTest{column}}, nil
	}
	if len(operands) != 1 {
		return nil, fmt.Errorf("%q takes a column and one operand", operator)
	}
	switch operator {
	case "in":
		return readMembership(column, operands[0])
	case "not in":
		inner, err := readMembership(column, operands[0])
		return Not{inner}, err
	case "=", "!=", "<", "<=", ">", ">=":
		literal, err := ReadValue(operands[0])
		return Comparison{Operator(operator), column, literal}, err
	}
	return nil, fmt.Errorf("%q is not an operator of the protocol", operator)
}

func readMembership(column string, operand any) (Predicate, error) {
	written, ok := operand.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is not a list of values", operand)
	}
	literals := make([]Value, len(written))
	for i, literal := range written {
		var err error
		if literals[i], err = ReadValue(literal); err != nil {
			return nil, err
		}
	}
	return Membership{column, literals}, nil
}
