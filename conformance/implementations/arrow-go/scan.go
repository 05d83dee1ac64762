package main

import (
	"github.com/apache/arrow-go/v18/parquet/file"

	"pqassay/protocol"
	"pqassay/protocol/pruning"
)

// Scan reads the columns of the predicate and of the answer. With the index in use, each row group is planned for by itself.
func (driver) Scan(query protocol.Query) ([][]protocol.Value, error) {
	reader, err := openFile(query.File)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	filter := protocol.NewFilter(query.Predicate, query.Columns)
	table, err := newTable(reader, filter.Columns())
	if err != nil {
		return nil, err
	}
	if !query.Index {
		rows, err := table.rows(nil)
		if err != nil {
			return nil, err
		}
		return filter.Keep(rows)
	}
	var kept [][]protocol.Value
	for group := range reader.NumRowGroups() {
		rows, err := table.pruned(group, query.Predicate)
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

// pruned reads the rows of a row group that the predicate may be true of.
func (t *table) pruned(group int, predicate protocol.Predicate) ([][]protocol.Value, error) {
	count := t.file.MetaData().RowGroup(group).NumRows()
	selection, err := pruning.Plan(predicate, count, func(name string) ([]pruning.Layer, error) {
		leaf, flat := t.flatLeaf(name)
		if !flat {
			return nil, nil
		}
		return layers(t.file, group, leaf, count)
	})
	if err != nil {
		return nil, err
	}
	if selection.Rows() == count {
		return t.rows([]int{group})
	}
	return t.selected(group, selection)
}

// flatLeaf is the leaf of a top-level column, and false if the column is nested.
func (t *table) flatLeaf(name string) (leaf int, flat bool) {
	for _, field := range t.fields {
		if field.Field.Name == name && field.IsLeaf() {
			return field.ColIndex, t.file.MetaData().Schema.Column(field.ColIndex).MaxRepetitionLevel() == 0
		}
	}
	return 0, false
}

// layers is what a file says about a leaf's values in one row group: statistics and bloom filter, and its pages.
func layers(reader *file.Reader, group, leaf int, rows int64) ([]pruning.Layer, error) {
	chunk, err := chunkFacts(reader, group, leaf, rows)
	if err != nil {
		return nil, err
	}
	found := []pruning.Layer{{{Rows: pruning.Range{From: 0, To: rows}, Facts: chunk}}}
	pages, err := pageUnits(reader, group, leaf, rows)
	if err != nil {
		return nil, err
	}
	if pages != nil {
		found = append(found, pages)
	}
	return found, nil
}

func chunkFacts(reader *file.Reader, group, leaf int, rows int64) (pruning.Facts, error) {
	column := reader.MetaData().Schema.Column(leaf)
	chunk, err := reader.MetaData().RowGroup(group).ColumnChunk(leaf)
	if err != nil {
		return pruning.Facts{}, err
	}
	statistics, err := chunk.Statistics()
	if err != nil {
		return pruning.Facts{}, err
	}
	facts := pruning.Facts{}
	if statistics != nil && statistics.HasNullCount() {
		nulls := statistics.NullCount()
		facts.NullCount, facts.OnlyNulls = &nulls, nulls == rows
	}
	if statistics != nil && statistics.HasMinMax() {
		least, greatest := statisticsBounds(statistics)
		if facts.Min, err = logicalValue(column, least); err != nil {
			return facts, err
		}
		if facts.Max, err = logicalValue(column, greatest); err != nil {
			return facts, err
		}
	}
	facts.Holds, err = bloomFilter(reader, group, leaf)
	return facts, err
}

// pageUnits are the pages of a chunk. They are nil if a half of the page index is missing, or if the halves are not of the
// same pages.
func pageUnits(reader *file.Reader, group, leaf int, rows int64) (pruning.Layer, error) {
	index, err := reader.GetPageIndexReader().RowGroup(group)
	if index == nil || err != nil {
		return nil, err
	}
	bounds, err := index.GetColumnIndex(leaf)
	if bounds == nil || err != nil {
		return nil, err
	}
	places, err := index.GetOffsetIndex(leaf)
	if places == nil || err != nil || len(places.GetPageLocations()) != len(bounds.GetNullPages()) {
		return nil, err
	}
	column := reader.MetaData().Schema.Column(leaf)
	locations, least, greatest := places.GetPageLocations(), minimums(bounds), maximums(bounds)
	pages := make(pruning.Layer, len(locations))
	for i, location := range locations {
		facts := pruning.Facts{OnlyNulls: bounds.GetNullPages()[i]}
		if bounds.IsSetNullCounts() {
			facts.NullCount = &bounds.GetNullCounts()[i]
		}
		if !facts.OnlyNulls {
			if facts.Min, err = logicalValue(column, least(i)); err != nil {
				return nil, err
			}
			if facts.Max, err = logicalValue(column, greatest(i)); err != nil {
				return nil, err
			}
		}
		end := rows
		if i+1 < len(locations) {
			end = locations[i+1].FirstRowIndex
		}
		pages[i] = pruning.Unit{Rows: pruning.Range{From: location.FirstRowIndex, To: end}, Facts: facts}
	}
	return pages, nil
}
