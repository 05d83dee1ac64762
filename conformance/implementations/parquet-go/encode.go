package main

import (
	"bytes"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"pqassay/protocol"
)

// Encode writes rows, which the driver takes apart into leaves with their levels, by the library's writer of rows.
func (driver) Encode(table protocol.Table, wishes protocol.Wishes) ([]byte, error) {
	types := map[string]protocol.Type{}
	group := parquet.Group{}
	for _, column := range table.Columns {
		parsed, err := protocol.ParseType(column.Type)
		if err != nil {
			return nil, err
		}
		types[column.Name] = parsed
		if group[column.Name], err = columnNode(parsed, column.Nullable, wishes); err != nil {
			return nil, err
		}
	}
	schema := parquet.NewSchema("schema", group)
	options, err := writerOptions(schema, wishes)
	if err != nil {
		return nil, err
	}
	rows, err := shred(schema, types, table)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	writer := parquet.NewWriter(&content, append(options, schema)...)
	if err := writeRows(writer, rows, wishes); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// writeRows writes as many rows at once as a page may have: the library looks at the size of a page after each time.
func writeRows(writer *parquet.Writer, rows []parquet.Row, wishes protocol.Wishes) error {
	step := max(len(rows), 1)
	if wishes.PageRows != nil {
		step = int(*wishes.PageRows)
	}
	for from := 0; from < len(rows); from += step {
		if _, err := writer.WriteRows(rows[from:min(from+step, len(rows))]); err != nil {
			return err
		}
	}
	return writer.Close()
}

func writerOptions(schema *parquet.Schema, wishes protocol.Wishes) ([]parquet.WriterOption, error) {
	var options []parquet.WriterOption
	add := func(option parquet.WriterOption) { options = append(options, option) }
	if wishes.PageIndex != nil && !*wishes.PageIndex {
		return nil, protocol.Unsupported("page_index")
	}
	if wishes.Statistics != nil && !*wishes.Statistics {
		return nil, protocol.Unsupported("statistics")
	}
	if wishes.PageRows != nil {
		add(parquet.PageBufferSize(smallestPage))
	}
	if wishes.RowGroupRows != nil {
		add(parquet.MaxRowsPerRowGroup(*wishes.RowGroupRows))
	}
	if filters := bloomFilters(schema, wishes.BloomFilter); len(filters) > 0 {
		add(parquet.BloomFilters(filters...))
	}
	if len(wishes.Sorting) > 0 {
		add(parquet.SortingWriterConfig(parquet.SortingColumns(sortingColumns(wishes.Sorting)...)))
	}
	if wishes.DataPageVersion != nil {
		add(parquet.DataPageVersion(*wishes.DataPageVersion))
	}
	if wishes.Codec != "" {
		codec, ok := codecs[wishes.Codec]
		if !ok {
			return nil, protocol.Unsupported("codec " + wishes.Codec)
		}
		add(parquet.Compression(codec))
	}
	return options, nil
}

// smallestPage is a number of bytes that each page has, so that the library ends a page whenever it looks.
const smallestPage = 2

var codecs = map[string]compress.Codec{
	"uncompressed": &parquet.Uncompressed,
	"snappy":       &parquet.Snappy,
	"gzip":         &parquet.Gzip,
	"zstd":         &parquet.Zstd,
	"lz4_raw":      &parquet.Lz4Raw,
	"brotli":       &parquet.Brotli,
}

// bitsPerValue of bloom filters, as the library's own example has them.
const bitsPerValue = 10

func bloomFilters(schema *parquet.Schema, columns []string) []parquet.BloomFilterColumn {
	var filters []parquet.BloomFilterColumn
	for _, column := range columns {
		for _, path := range schema.Columns() {
			if path[0] == column || strings.Join(path, ".") == column {
				filters = append(filters, parquet.SplitBlockFilter(bitsPerValue, path...))
			}
		}
	}
	return filters
}

func sortingColumns(sorting []protocol.Sorting) []parquet.SortingColumn {
	columns := make([]parquet.SortingColumn, len(sorting))
	for i, order := range sorting {
		columns[i] = parquet.Ascending(order.Column)
		if order.Descending {
			columns[i] = parquet.Descending(order.Column)
		}
	}
	return columns
}
