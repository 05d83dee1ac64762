package main

import (
	"bytes"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"pqassay/protocol"
)

// Encode writes a table of Arrow by the library's writer for such tables.
func (driver) Encode(table protocol.Table, wishes protocol.Wishes) ([]byte, error) {
	batch, err := recordBatch(table)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	leaves, err := pqarrow.ToParquet(batch.Schema(), parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	properties, err := writerProperties(leaves, wishes)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	writer, err := pqarrow.NewFileWriter(
		batch.Schema(), &content, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps(),
	)
	if err != nil {
		return nil, err
	}
	groupRows := max(batch.NumRows(), 1)
	if wishes.RowGroupRows != nil {
		groupRows = *wishes.RowGroupRows
	}
	arrowTable := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch})
	defer arrowTable.Release()
	if err := writer.WriteTable(arrowTable, groupRows); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	if wishes.PageRows != nil {
		return content.Bytes(), checkPages(content.Bytes(), *wishes.PageRows)
	}
	return content.Bytes(), nil
}

func recordBatch(table protocol.Table) (arrow.RecordBatch, error) {
	fields := make([]arrow.Field, len(table.Columns))
	for i, column := range table.Columns {
		parsed, err := protocol.ParseType(column.Type)
		if err != nil {
			return nil, err
		}
		arrowType, err := arrowType(parsed)
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: column.Name, Type: arrowType, Nullable: column.Nullable}
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer builder.Release()
	for _, row := range table.Rows {
		for i, value := range row {
			if err := appendValue(builder.Field(i), value); err != nil {
				return nil, err
			}
		}
	}
	return builder.NewRecordBatch(), nil
}

func writerProperties(leaves *schema.Schema, wishes protocol.Wishes) ([]parquet.WriterProperty, error) {
	var properties []parquet.WriterProperty
	add := func(property parquet.WriterProperty) { properties = append(properties, property) }
	if wishes.PageRows != nil {
		// The library looks at the size of a page after each batch of values, and ends the page if it is too great.
		add(parquet.WithBatchSize(*wishes.PageRows))
		add(parquet.WithDataPageSize(1))
	}
	if wishes.Dictionary != nil {
		add(parquet.WithDictionaryDefault(*wishes.Dictionary))
		for i := range leaves.NumColumns() {
			add(parquet.WithDictionaryCostFallbackFor(leaves.Column(i).Path(), !*wishes.Dictionary))
		}
	}
	for _, column := range wishes.BloomFilter {
		for _, leaf := range leavesBelow(leaves, column) {
			add(parquet.WithBloomFilterEnabledFor(leaves.Column(leaf).Path(), true))
		}
	}
	if wishes.PageIndex != nil {
		add(parquet.WithPageIndexEnabled(*wishes.PageIndex))
	}
	if wishes.Statistics != nil {
		add(parquet.WithStats(*wishes.Statistics))
	}
	if len(wishes.Sorting) > 0 {
		add(parquet.WithSortingColumns(sortingColumns(leaves, wishes.Sorting)))
	}
	return addFormat(properties, wishes)
}

func addFormat(properties []parquet.WriterProperty, wishes protocol.Wishes) ([]parquet.WriterProperty, error) {
	if wishes.DataPageVersion != nil {
		version, ok := map[int]parquet.DataPageVersion{1: parquet.DataPageV1, 2: parquet.DataPageV2}[*wishes.DataPageVersion]
		if !ok {
			return nil, protocol.Unsupported("data_page_version")
		}
		properties = append(properties, parquet.WithDataPageVersion(version))
	}
	if wishes.Codec != "" {
		codec, ok := codecs[wishes.Codec]
		if !ok {
			return nil, protocol.Unsupported("codec " + wishes.Codec)
		}
		properties = append(properties, parquet.WithCompression(codec))
	}
	return properties, nil
}

var codecs = map[string]compress.Compression{
	"uncompressed": compress.Codecs.Uncompressed,
	"snappy":       compress.Codecs.Snappy,
	"gzip":         compress.Codecs.Gzip,
	"zstd":         compress.Codecs.Zstd,
	"lz4_raw":      compress.Codecs.Lz4Raw,
	"brotli":       compress.Codecs.Brotli,
}

// leavesBelow are the leaves of a top-level column.
func leavesBelow(leaves *schema.Schema, column string) []int {
	var below []int
	for i := range leaves.NumColumns() {
		if path := leaves.Column(i).Path(); path == column || strings.HasPrefix(path, column+".") {
			below = append(below, i)
		}
	}
	return below
}

func sortingColumns(leaves *schema.Schema, sorting []protocol.Sorting) []parquet.SortingColumn {
	var columns []parquet.SortingColumn
	for _, order := range sorting {
		for _, leaf := range leavesBelow(leaves, order.Column) {
			columns = append(columns, parquet.SortingColumn{ColumnIdx: int32(leaf), Descending: order.Descending})
		}
	}
	return columns
}
