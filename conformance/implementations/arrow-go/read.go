package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"pqassay/protocol"
	"pqassay/protocol/pruning"
)

func (driver) Read(path string, columns []string) ([][]protocol.Value, error) {
	reader, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	table, err := newTable(reader, columns)
	if err != nil {
		return nil, err
	}
	return table.rows(nil)
}

// A table reads some top-level columns of a file.
type table struct {
	file    *file.Reader
	fields  []*pqarrow.SchemaField // in the order of the answer
	inBatch []int                  // where each is in a batch of the library, whose columns are in the order of the file
	leaves  []int
}

func newTable(reader *file.Reader, columns []string) (*table, error) {
	arrowReader, err := arrowReader(reader, 0)
	if err != nil {
		return nil, err
	}
	table := &table{file: reader}
	wanted := make([]int, len(columns))
	for i, name := range columns {
		if wanted[i], err = fieldNamed(arrowReader.Manifest, name); err != nil {
			return nil, err
		}
	}
	position := map[int]int{}
	for i := range arrowReader.Manifest.Fields {
		for _, index := range wanted {
			if _, seen := position[i]; index == i && !seen {
				position[i] = len(position)
				table.leaves = append(table.leaves, leavesOf(&arrowReader.Manifest.Fields[i])...)
			}
		}
	}
	for _, index := range wanted {
		table.fields = append(table.fields, &arrowReader.Manifest.Fields[index])
		table.inBatch = append(table.inBatch, position[index])
	}
	return table, nil
}

// arrowReader is the library's reader of batches of batchSize rows; 0: of all.
func arrowReader(reader *file.Reader, batchSize int64) (*pqarrow.FileReader, error) {
	properties := pqarrow.ArrowReadProperties{BatchSize: batchSize}
	return pqarrow.NewFileReader(reader, properties, memory.DefaultAllocator)
}

func fieldNamed(manifest *pqarrow.SchemaManifest, name string) (int, error) {
	for i, field := range manifest.Fields {
		if field.Field.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the file has no column %q", name)
}

func leavesOf(field *pqarrow.SchemaField) []int {
	if field.IsLeaf() {
		return []int{field.ColIndex}
	}
	var leaves []int
	for i := range field.Children {
		leaves = append(leaves, leavesOf(&field.Children[i])...)
	}
	return leaves
}

// rows reads the given row groups, nil for all, from beginning to end.
func (t *table) rows(rowGroups []int) ([][]protocol.Value, error) {
	return t.read(rowGroups, 0, func(batches pqarrow.RecordReader) ([][]protocol.Value, error) {
		var rows [][]protocol.Value
		for batches.Next() {
			more, err := t.values(batches.RecordBatch())
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		return rows, batches.Err()
	})
}

// selected reads rows of one row group: the library seeks to the first of each range by the offset index.
func (t *table) selected(rowGroup int, selection pruning.Selection) ([][]protocol.Value, error) {
	var rows [][]protocol.Value
	for _, part := range selection {
		wanted := part.To - part.From
		read, err := t.read([]int{rowGroup}, wanted, func(batches pqarrow.RecordReader) ([][]protocol.Value, error) {
			if err := batches.SeekToRow(part.From); err != nil {
				return nil, err
			}
			var rows [][]protocol.Value
			for int64(len(rows)) < wanted && batches.Next() {
				more, err := t.values(batches.RecordBatch())
				if err != nil {
					return nil, err
				}
				rows = append(rows, more...)
			}
			return rows[:min(int64(len(rows)), wanted)], batches.Err()
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, read...)
	}
	return rows, nil
}

func (t *table) read(
	rowGroups []int, batchSize int64, use func(pqarrow.RecordReader) ([][]protocol.Value, error),
) ([][]protocol.Value, error) {
	arrowReader, err := arrowReader(t.file, batchSize)
	if err != nil {
		return nil, err
	}
	batches, err := arrowReader.GetRecordReader(context.Background(), t.leaves, rowGroups)
	if err != nil {
		return nil, err
	}
	defer batches.Release()
	return use(batches)
}

// values are the rows of a batch.
func (t *table) values(batch arrow.RecordBatch) ([][]protocol.Value, error) {
	rows := make([][]protocol.Value, batch.NumRows())
	for i := range rows {
		rows[i] = make([]protocol.Value, len(t.fields))
		for j, field := range t.fields {
			value, err := t.value(field, batch.Column(t.inBatch[j]), i)
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", field.Field.Name, err)
			}
			rows[i][j] = value
		}
	}
	return rows, nil
}
