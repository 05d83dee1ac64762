package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
	"pqassay/protocol/pruning"
)

func (driver) Read(path string, columns []string) ([][]protocol.Value, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return readAll(file, columns)
}

func readAll(file *parquet.File, columns []string) ([][]protocol.Value, error) {
	fields, err := fieldsNamed(file, columns)
	if err != nil {
		return nil, err
	}
	var all [][]protocol.Value
	for _, group := range file.RowGroups() {
		rows, err := readGroup(group, fields)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func fieldsNamed(file *parquet.File, columns []string) ([]*parquet.Column, error) {
	fields := make([]*parquet.Column, len(columns))
	for i, name := range columns {
		if fields[i] = file.Root().Column(name); fields[i] == nil {
			return nil, fmt.Errorf("the file has no column %q", name)
		}
	}
	return fields, nil
}

// readGroup reads a row group from beginning to end.
func readGroup(group parquet.RowGroup, fields []*parquet.Column) ([][]protocol.Value, error) {
	rows := group.Rows()
	read, err := readRows(rows, fields, -1)
	return read, errors.Join(err, rows.Close())
}

// readSelected reads rows of a row group: the library seeks to the first of each range by the offset index.
func readSelected(
	group parquet.RowGroup, fields []*parquet.Column, selection pruning.Selection,
) ([][]protocol.Value, error) {
	var all [][]protocol.Value
	for _, part := range selection {
		rows := group.Rows()
		err := rows.SeekToRow(part.From)
		var read [][]protocol.Value
		if err == nil {
			read, err = readRows(rows, fields, part.To-part.From)
		}
		if err := errors.Join(err, rows.Close()); err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// batchSize is how many rows the library is asked for at once.
const batchSize = 64

// readRows reads a number of rows, or those up to the end if the limit is negative.
func readRows(reader parquet.Rows, fields []*parquet.Column, limit int64) ([][]protocol.Value, error) {
	var all [][]protocol.Value
	batch := make([]parquet.Row, batchSize)
	for limit < 0 || int64(len(all)) < limit {
		wanted := batch
		if limit >= 0 {
			wanted = batch[:min(batchSize, limit-int64(len(all)))]
		}
		count, err := reader.ReadRows(wanted)
		for _, row := range wanted[:count] {
			values, err := assemble(row, fields)
			if err != nil {
				return nil, err
			}
			all = append(all, values)
		}
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
