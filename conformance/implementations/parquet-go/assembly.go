package main

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

// assemble makes the values of a row from its leaves, whose levels say where lists and groups begin and end.
func assemble(row parquet.Row, fields []*parquet.Column) ([]protocol.Value, error) {
	assembly := assembly{}
	row.Range(func(column int, values []parquet.Value) bool {
		assembly[column] = values
		return true
	})
	assembled := make([]protocol.Value, len(fields))
	for i, field := range fields {
		var err error
		if assembled[i], err = assembly.value(field); err != nil {
			return nil, fmt.Errorf("column %s: %w", field.Name(), err)
		}
	}
	return assembled, nil
}

// assembly is what is left of the values of each leaf column of a row.
type assembly map[int][]parquet.Value

// value takes the values of one field: a list if it is repeated, else its content or null.
func (a assembly) value(node *parquet.Column) (protocol.Value, error) {
	if node.Repeated() {
		return a.repeated(node, a.content)
	}
	next, err := a.peek(node)
	if err != nil {
		return nil, err
	}
	if next.DefinitionLevel() < node.MaxDefinitionLevel() {
		return nil, a.skip(node)
	}
	return a.content(node)
}

// repeated takes the elements of a repeated field.
func (a assembly) repeated(
	node *parquet.Column, element func(*parquet.Column) (protocol.Value, error),
) (protocol.List, error) {
	list := protocol.List{}
	next, err := a.peek(node)
	if err != nil {
		return nil, err
	}
	if next.DefinitionLevel() < node.MaxDefinitionLevel() {
		return list, a.skip(node)
	}
	for {
		value, err := element(node)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		rest := a[firstLeaf(node).Index()]
		if len(rest) == 0 || rest[0].RepetitionLevel() != node.MaxRepetitionLevel() {
			return list, nil
		}
	}
}

// content takes the values of a field that is there, or of one element of a repeated field.
func (a assembly) content(node *parquet.Column) (protocol.Value, error) {
	if node.Leaf() {
		value, err := a.peek(node)
		if err != nil {
			return nil, err
		}
		return leafValue(node.Type(), value), a.skip(node)
	}
	if children := node.Columns(); len(children) == 1 && children[0].Repeated() {
		switch annotation(node.Type()).(type) {
		case *format.ListType:
			return a.repeated(children[0], a.element(node))
		case *format.MapType:
			return a.entries(children[0])
		}
	}
	members := make(protocol.Struct, 0, len(node.Columns()))
	for _, child := range node.Columns() {
		value, err := a.value(child)
		if err != nil {
			return nil, err
		}
		members = append(members, protocol.Member{Name: child.Name(), Value: value})
	}
	return members, nil
}

// element takes an element of a list. The repeated field below the list holds it in a field of its own, but for lists of old
// writers, where it is the element itself.
func (a assembly) element(list *parquet.Column) func(*parquet.Column) (protocol.Value, error) {
	return func(repeated *parquet.Column) (protocol.Value, error) {
		old := repeated.Name() == "array" || repeated.Name() == list.Name()+"_tuple"
		if repeated.Leaf() || len(repeated.Columns()) != 1 || old {
			return a.content(repeated)
		}
		return a.value(repeated.Columns()[0])
	}
}

// entries takes the entries of a map: keys with values.
func (a assembly) entries(repeated *parquet.Column) (protocol.Value, error) {
	if len(repeated.Columns()) != 2 {
		return nil, fmt.Errorf("the entries of the map %v are not keys with values", repeated.Path())
	}
	pairs, err := a.repeated(repeated, a.content)
	if err != nil {
		return nil, err
	}
	entries := make(protocol.Map, len(pairs))
	for i, pair := range pairs {
		members := pair.(protocol.Struct)
		entries[i] = protocol.Entry{Key: members[0].Value, Value: members[1].Value}
	}
	return entries, nil
}

// peek is the next value of the first leaf of a field.
func (a assembly) peek(node *parquet.Column) (parquet.Value, error) {
	leaf := firstLeaf(node)
	if values := a[leaf.Index()]; len(values) > 0 {
		return values[0], nil
	}
	return parquet.Value{}, fmt.Errorf("the library returned a row without a value of %v", leaf.Path())
}

// skip leaves out one value of each leaf of a field.
func (a assembly) skip(node *parquet.Column) error {
	if node.Leaf() {
		if _, err := a.peek(node); err != nil {
			return err
		}
		a[node.Index()] = a[node.Index()][1:]
	}
	for _, child := range node.Columns() {
		if err := a.skip(child); err != nil {
			return err
		}
	}
	return nil
}

func firstLeaf(node *parquet.Column) *parquet.Column {
	for !node.Leaf() {
		node = node.Columns()[0]
	}
	return node
}
