package main

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
)

// Decode shows what the library reads of a page index (PIX) or of bloom filters (BLM).
func (driver) Decode(request protocol.Decode) (any, error) {
	if request.Family != "PIX" && request.Family != "BLM" {
		return nil, protocol.NotKnown(request.Family)
	}
	file, err := openFile(request.File)
	if err != nil {
		return nil, err
	}
	leaf := leafNamed(file.Root(), request.Column)
	if leaf == nil {
		return nil, fmt.Errorf("the file has no column %q", request.Column)
	}
	groups := make([]map[string]any, len(file.RowGroups()))
	for i, group := range file.RowGroups() {
		chunk := group.ColumnChunks()[leaf.Index()].(*parquet.FileColumnChunk)
		if request.Family == "PIX" {
			groups[i], err = decodedPages(file, i, chunk)
		} else {
			groups[i], err = probedFilter(chunk, request.Probes)
		}
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"row_groups": groups}, nil
}

// leafNamed is the leaf below a column whose path, joined by dots, is this one.
func leafNamed(column *parquet.Column, path string) *parquet.Column {
	if column.Leaf() && strings.Join(column.Path(), ".") == path {
		return column
	}
	for _, child := range column.Columns() {
		if leaf := leafNamed(child, path); leaf != nil {
			return leaf
		}
	}
	return nil
}

func decodedPages(file *parquet.File, group int, chunk *parquet.FileColumnChunk) (map[string]any, error) {
	bounds, places, err := pageIndex(chunk)
	if err != nil {
		return nil, err
	}
	halves := map[string]any{}
	if bounds != nil {
		halves["column_index"] = decodedBounds(file, group, chunk)
	}
	if places != nil {
		locations := make([][]int64, places.NumPages())
		for i := range locations {
			locations[i] = []int64{places.Offset(i), places.CompressedPageSize(i), places.FirstRowIndex(i)}
		}
		halves["offset_index"] = map[string]any{"page_locations": locations}
	}
	return halves, nil
}

// decodedBounds is the column index in the form of the protocol, whose bounds are the bytes in the file.
func decodedBounds(file *parquet.File, group int, chunk *parquet.FileColumnChunk) map[string]any {
	index := file.ColumnIndexes()[group*len(file.Metadata().RowGroups[0].Columns)+chunk.Column()]
	written := map[string]any{
		"null_pages":     []bool(index.NullPages),
		"min_values":     decodedBytes(index.MinValues, index.NullPages),
		"max_values":     decodedBytes(index.MaxValues, index.NullPages),
		"boundary_order": int(index.BoundaryOrder),
	}
	if index.NullCounts != nil {
		written["null_counts"] = []int64(index.NullCounts)
	}
	return written
}

// decodedBytes are bounds in the form of the protocol: null for pages of nothing but nulls, which have none.
func decodedBytes(bounds [][]byte, nullPages []bool) []any {
	written := make([]any, len(bounds))
	for i, bound := range bounds {
		if i >= len(nullPages) || !nullPages[i] {
			written[i], _ = protocol.Write(protocol.Bytes(bound)) // bytes can always be written
		}
	}
	return written
}

func probedFilter(chunk *parquet.FileColumnChunk, probes []protocol.Value) (map[string]any, error) {
	filter := chunk.BloomFilter()
	if filter == nil {
		return map[string]any{}, nil
	}
	held := make([]bool, len(probes))
	for i, probe := range probes {
		var err error
		if held[i], err = mayHold(filter, chunk.Type(), probe); err != nil {
			return nil, err
		}
	}
	return map[string]any{"size": filter.Size(), "held": held}, nil
}
