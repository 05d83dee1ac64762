package main

import (
	"errors"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
	"pqassay/protocol/pruning"
)

// Scan reads the columns of the predicate and of the answer. With the index in use, each row group is planned for by itself.
func (driver) Scan(query protocol.Query) ([][]protocol.Value, error) {
	filter := protocol.NewFilter(query.Predicate, query.Columns)
	if !query.Index {
		file, err := openFile(query.File, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return nil, err
		}
		rows, err := readAll(file, filter.Columns())
		if err != nil {
			return nil, err
		}
		return filter.Keep(rows)
	}
	file, err := openFile(query.File)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsNamed(file, filter.Columns())
	if err != nil {
		return nil, err
	}
	var kept [][]protocol.Value
	for _, group := range file.RowGroups() {
		rows, err := readPruned(file, group, fields, query.Predicate)
		if err != nil {
			return nil, err
		}
		more, err := filter.Keep(rows)
		if err != nil {
			return nil, err
		}
		kept = append(kept, more...)
	}
	return kept, nil
}

// readPruned reads the rows of a row group that the predicate may be true of.
func readPruned(
	file *parquet.File, group parquet.RowGroup, fields []*parquet.Column, predicate protocol.Predicate,
) ([][]protocol.Value, error) {
	selection, err := pruning.Plan(predicate, group.NumRows(), func(name string) ([]pruning.Layer, error) {
		column := file.Root().Column(name)
		if !column.Leaf() || column.Repeated() {
			return nil, nil
		}
		return layers(group, group.ColumnChunks()[column.Index()].(*parquet.FileColumnChunk))
	})
	if err != nil {
		return nil, err
	}
	if selection.Rows() == group.NumRows() {
		return readGroup(group, fields)
	}
	return readSelected(group, fields, selection)
}

// layers is what a file says about a chunk's values: statistics and bloom filter, and its pages.
func layers(group parquet.RowGroup, chunk *parquet.FileColumnChunk) ([]pruning.Layer, error) {
	all := pruning.Range{From: 0, To: group.NumRows()}
	found := []pruning.Layer{{{Rows: all, Facts: chunkFacts(chunk, group.NumRows())}}}
	pages, err := pageUnits(chunk, group.NumRows())
	if err != nil {
		return nil, err
	}
	if pages != nil {
		found = append(found, pages)
	}
	return found, nil
}

func chunkFacts(chunk *parquet.FileColumnChunk, rows int64) pruning.Facts {
	facts := pruning.Facts{OnlyNulls: rows > 0 && chunk.NullCount() == rows}
	// The library returns 0 for an absent count, and says so: "writers are not required to populate it".
	if nulls := chunk.NullCount(); nulls > 0 {
		facts.NullCount = &nulls
	}
	if least, greatest, ok := chunk.Bounds(); ok {
		facts.Min, facts.Max = leafValue(chunk.Type(), least), leafValue(chunk.Type(), greatest)
	}
	if filter := chunk.BloomFilter(); filter != nil {
		facts.Holds = func(literal protocol.Value) (bool, error) { return mayHold(filter, chunk.Type(), literal) }
	}
	return facts
}

// mayHold says whether a filter may hold a literal, which is true as well where the driver does not know how the column
// stores it.
func mayHold(filter parquet.BloomFilter, typ parquet.Type, literal protocol.Value) (bool, error) {
	stored := lookedUp(typ, literal)
	for _, value := range stored {
		held, err := filter.Check(value)
		if held || err != nil {
			return held, err
		}
	}
	return len(stored) == 0, nil
}

// pageIndex is both halves of the page index of a chunk, nil where the library finds none.
func pageIndex(chunk *parquet.FileColumnChunk) (parquet.ColumnIndex, parquet.OffsetIndex, error) {
	bounds, err := chunk.ColumnIndex()
	if err != nil && !errors.Is(err, parquet.ErrMissingColumnIndex) {
		return nil, nil, err
	}
	places, err := chunk.OffsetIndex()
	if err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
		return nil, nil, err
	}
	return bounds, places, nil
}

// pageUnits are the pages of a chunk. They are nil if a half of the page index is missing, or if the halves are not of the
// same pages.
func pageUnits(chunk *parquet.FileColumnChunk, rows int64) (pruning.Layer, error) {
	bounds, places, err := pageIndex(chunk)
	if err != nil || bounds == nil || places == nil || bounds.NumPages() != places.NumPages() {
		return nil, err
	}
	pages := make(pruning.Layer, places.NumPages())
	for i := range pages {
		end := rows
		if i+1 < len(pages) {
			end = places.FirstRowIndex(i + 1)
		}
		nulls := bounds.NullCount(i)
		facts := pruning.Facts{
			Min:       leafValue(chunk.Type(), bounds.MinValue(i)),
			Max:       leafValue(chunk.Type(), bounds.MaxValue(i)),
			NullCount: &nulls,
			OnlyNulls: bounds.NullPage(i),
			Holds: func(literal protocol.Value) (bool, error) {
				return i >= firstPage(bounds, chunk.Type(), literal), nil
			},
		}
		pages[i] = pruning.Unit{Rows: pruning.Range{From: places.FirstRowIndex(i), To: end}, Facts: facts}
	}
	return pages, nil
}

// firstPage is the first page that may hold a literal, by the search of the library.
func firstPage(bounds parquet.ColumnIndex, typ parquet.Type, literal protocol.Value) int {
	stored := lookedUp(typ, literal)
	if len(stored) == 0 {
		return 0
	}
	first := bounds.NumPages()
	for _, value := range stored {
		first = min(first, parquet.Search(bounds, value, typ))
	}
	return first
}
