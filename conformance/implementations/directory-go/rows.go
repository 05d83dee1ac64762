package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
)

const batchSize = 64

// Read returns all rows, which parquet-go reads.
func (driver) Read(path string, columns []string) ([][]protocol.Value, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readRows(content, columns, func(int) bool { return true })
}

// Scan leaves out the row groups that distinct sets exclude.
func (driver) Scan(query protocol.Query) ([][]protocol.Value, error) {
	content, err := os.ReadFile(query.File)
	if err != nil {
		return nil, err
	}
	wanted := func(int) bool { return true }
	if query.Index {
		opened, err := openFile(content)
		if err != nil {
			return nil, err
		}
		groups := allowedValues(opened)
		wanted = func(group int) bool { return groups[group].mayBe(query.Predicate)[protocol.True] }
	}
	filter := protocol.NewFilter(query.Predicate, query.Columns)
	rows, err := readRows(content, filter.Columns(), wanted)
	if err != nil {
		return nil, err
	}
	return filter.Keep(rows)
}

// readRows reads columns of the wanted row groups.
func readRows(content []byte, columns []string, wanted func(group int) bool) ([][]protocol.Value, error) {
	described, err := openFile(content)
	if err != nil {
		return nil, err
	}
	leaves := make([]leaf, len(columns))
	for i, name := range columns {
		found, ok := described.column([]string{name})
		if !ok || found.repeated {
			return nil, protocol.Unsupported("nested columns, or several of one name")
		}
		leaves[i] = found
	}
	library, err := parquet.OpenFile(
		bytes.NewReader(content), int64(len(content)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
	)
	if err != nil {
		return nil, err
	}
	var rows [][]protocol.Value
	for i, group := range library.RowGroups() {
		if !wanted(i) {
			continue
		}
		if rows, err = appendRows(rows, group, leaves); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func appendRows(rows [][]protocol.Value, group parquet.RowGroup, leaves []leaf) (all [][]protocol.Value, err error) {
	reader := group.Rows()
	defer func() { err = errors.Join(err, reader.Close()) }()
	batch := make([]parquet.Row, batchSize)
	for {
		count, err := reader.ReadRows(batch)
		for _, read := range batch[:count] {
			row := make([]protocol.Value, len(leaves))
			for i, one := range leaves {
				at := slices.IndexFunc(read, func(value parquet.Value) bool { return value.Column() == one.index })
				if at < 0 {
					return nil, fmt.Errorf("a row has no value of column %q", one.path[0])
				}
				row[i] = one.valueOf(read[at])
			}
			rows = append(rows, row)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// valueOf is what a value of the library stands for.
func (l leaf) valueOf(value parquet.Value) protocol.Value {
	switch {
	case value.IsNull():
		return nil
	case value.Kind() == parquet.Boolean:
		return value.Boolean()
	case value.Kind() == parquet.Int96:
		words := value.Int96()
		return protocol.Int96(words[2], uint64(words[1])<<32|uint64(words[0]))
	case value.Kind() == parquet.ByteArray || value.Kind() == parquet.FixedLenByteArray:
		return l.ofBytes(bytes.Clone(value.ByteArray())) // the library may use the buffer again
	}
	return l.take(&cursor{left: value.Bytes()}) // numbers: little-endian, as in PLAIN
}
