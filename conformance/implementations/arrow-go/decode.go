package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"pqassay/protocol"
)

// Decode shows what the library reads of a page index (PIX) or of bloom filters (BLM).
func (driver) Decode(request protocol.Decode) (any, error) {
	if request.Family != "PIX" && request.Family != "BLM" {
		return nil, protocol.NotKnown(request.Family)
	}
	reader, err := openFile(request.File)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	leaf := reader.MetaData().Schema.ColumnIndexByName(request.Column)
	if leaf < 0 {
		return nil, fmt.Errorf("the file has no column %q", request.Column)
	}
	groups := make([]map[string]any, reader.NumRowGroups())
	for group := range groups {
		if request.Family == "PIX" {
			groups[group], err = pageIndex(reader, group, leaf)
		} else {
			groups[group], err = probedFilter(reader, group, leaf, request.Probes)
		}
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"row_groups": groups}, nil
}

func pageIndex(reader *file.Reader, group, leaf int) (map[string]any, error) {
	halves := map[string]any{}
	index, err := reader.GetPageIndexReader().RowGroup(group)
	if index == nil || err != nil {
		return halves, err
	}
	bounds, err := index.GetColumnIndex(leaf)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		halves["column_index"] = writtenBounds(bounds)
	}
	places, err := index.GetOffsetIndex(leaf)
	if err != nil {
		return nil, err
	}
	if places != nil {
		locations := make([][]int64, len(places.GetPageLocations()))
		for i, location := range places.GetPageLocations() {
			locations[i] = []int64{location.Offset, int64(location.CompressedPageSize), location.FirstRowIndex}
		}
		halves["offset_index"] = map[string]any{"page_locations": locations}
	}
	return halves, nil
}

func writtenBounds(index metadata.ColumnIndex) map[string]any {
	written := map[string]any{
		"null_pages":     index.GetNullPages(),
		"min_values":     writtenBytes(index.GetMinValues(), index.GetNullPages()),
		"max_values":     writtenBytes(index.GetMaxValues(), index.GetNullPages()),
		"boundary_order": int(index.GetBoundaryOrder()),
	}
	if index.IsSetNullCounts() {
		written["null_counts"] = index.GetNullCounts()
	}
	return written
}

// writtenBytes are bounds in the form of the protocol: null for pages of nothing but nulls, which have none.
func writtenBytes(bounds [][]byte, nullPages []bool) []any {
	written := make([]any, len(bounds))
	for i, bound := range bounds {
		if !nullPages[i] {
			written[i], _ = protocol.Write(protocol.Bytes(bound)) // bytes can always be written
		}
	}
	return written
}

func probedFilter(reader *file.Reader, group, leaf int, probes []protocol.Value) (map[string]any, error) {
	filter, err := readFilter(reader, group, leaf)
	if filter == nil || err != nil {
		return map[string]any{}, err
	}
	held := make([]bool, len(probes))
	for i, probe := range probes {
		held[i] = mayHold(filter, reader.MetaData().Schema.Column(leaf), probe)
	}
	return map[string]any{"size": filter.Size(), "held": held}, nil
}
