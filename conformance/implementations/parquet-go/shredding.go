package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
)

// shred takes rows apart into the values of their leaves, with the levels that say where lists and groups begin and end.
func shred(schema *parquet.Schema, types map[string]protocol.Type, table protocol.Table) ([]parquet.Row, error) {
	leaves := map[string]int{}
	for i, path := range schema.Columns() {
		leaves[strings.Join(path, "\x00")] = i
	}
	rows := make([]parquet.Row, len(table.Rows))
	for i, values := range table.Rows {
		shredder := shredder{leaves, make([][]parquet.Value, len(leaves))}
		for j, column := range table.Columns {
			place := place{path: []string{column.Name}, node: field(schema, column.Name)}
			if err := shredder.value(place, types[column.Name], values[j]); err != nil {
				return nil, err
			}
		}
		rows[i] = slices.Concat(shredder.columns...)
	}
	return rows, nil
}

type shredder struct {
	leaves  map[string]int // the places of leaves in the schema by their paths
	columns [][]parquet.Value
}

// A place is where in a row a value is: below which lists and groups, and with which levels.
type place struct {
	path       []string
	node       parquet.Node
	repetition int // of the next value
	definition int // of all that is above this place
	depth      int // how many repeated fields are above this place
}

func (p place) below(name string) place {
	p.path, p.node = append(slices.Clone(p.path), name), field(p.node, name)
	return p
}

// within is the place within one of the elements of a repeated field below this place.
func (p place) within(name string, element int) place {
	inner := p.below(name)
	inner.definition++
	inner.depth++
	if element > 0 {
		inner.repetition = inner.depth
	}
	return inner
}

func field(node parquet.Node, name string) parquet.Node {
	for _, field := range node.Fields() {
		if field.Name() == name {
			return field
		}
	}
	panic(fmt.Sprintf("the schema has no field %q", name))
}

func (s shredder) value(at place, typ protocol.Type, value protocol.Value) error {
	if value == nil {
		if !at.node.Optional() {
			return protocol.Unsupported("null in a column that is not nullable")
		}
		s.missing(at)
		return nil
	}
	if at.node.Optional() {
		at.definition++
	}
	switch v := value.(type) {
	case protocol.List:
		return s.elements(at, typ, v)
	case protocol.Map:
		return s.entries(at, typ, v)
	case protocol.Struct:
		return s.members(at, typ, v)
	}
	if !at.node.Leaf() {
		return protocol.Unsupported(fmt.Sprintf("a value of type %T in a column of %s", value, typ.Name))
	}
	stored, ok := storedValue(at.node.Type(), value)
	if !ok {
		return protocol.Unsupported(fmt.Sprintf("a value of type %T in a column of %s", value, typ.Name))
	}
	s.add(at, stored)
	return nil
}

func (s shredder) elements(at place, typ protocol.Type, list protocol.List) error {
	if typ.Name != "list" {
		return protocol.Unsupported("a list in a column of " + typ.Name)
	}
	if len(list) == 0 {
		s.missing(at)
	}
	for i, element := range list {
		if err := s.value(at.within("list", i).below("element"), typ.Parts[0].Type, element); err != nil {
			return err
		}
	}
	return nil
}

func (s shredder) entries(at place, typ protocol.Type, entries protocol.Map) error {
	if typ.Name != "map" {
		return protocol.Unsupported("a map in a column of " + typ.Name)
	}
	if len(entries) == 0 {
		s.missing(at)
	}
	for i, entry := range entries {
		within := at.within("key_value", i)
		if err := s.value(within.below("key"), typ.Parts[0].Type, entry.Key); err != nil {
			return err
		}
		if err := s.value(within.below("value"), typ.Parts[1].Type, entry.Value); err != nil {
			return err
		}
	}
	return nil
}

func (s shredder) members(at place, typ protocol.Type, members protocol.Struct) error {
	if typ.Name != "struct" {
		return protocol.Unsupported("a struct in a column of " + typ.Name)
	}
	named := map[string]protocol.Value{}
	for _, member := range members {
		named[member.Name] = member.Value
	}
	for _, part := range typ.Parts {
		if err := s.value(at.below(part.Name), part.Type, named[part.Name]); err != nil {
			return err
		}
	}
	return nil
}

// missing adds a null to each leaf at or below a place.
func (s shredder) missing(at place) {
	if at.node.Leaf() {
		s.add(at, parquet.NullValue())
		return
	}
	for _, child := range at.node.Fields() {
		s.missing(at.below(child.Name()))
	}
}

func (s shredder) add(at place, value parquet.Value) {
	leaf := s.leaves[strings.Join(at.path, "\x00")]
	s.columns[leaf] = append(s.columns[leaf], value.Level(at.repetition, at.definition, leaf))
}
