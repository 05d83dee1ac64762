package main

import (
	"bytes"
	"errors"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"pqassay/protocol"
)

// checkPages says that the library did not fulfil the wish for pages of a number of rows, at most: a batch of nothing but nulls has no
// size, and so does not end a page.
func checkPages(content []byte, limit int64) error {
	reader, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	defer reader.Close()
	for group := range reader.NumRowGroups() {
		for leaf := range reader.MetaData().Schema.NumColumns() {
			rows, err := mostRows(reader, group, leaf)
			if err != nil {
				return err
			}
			if rows > limit {
				return protocol.Unsupported("page_rows, of nothing but nulls")
			}
		}
	}
	return nil
}

// mostRows is how many rows the longest page of a chunk has, by the page index or, without one, by the headers of the pages.
func mostRows(reader *file.Reader, group, leaf int) (int64, error) {
	index, err := reader.GetPageIndexReader().RowGroup(group)
	if err != nil {
		return 0, err
	}
	if index == nil {
		return mostRowsOfHeaders(reader, group, leaf)
	}
	places, err := index.GetOffsetIndex(leaf)
	if err != nil {
		return 0, err
	}
	most, end := int64(0), reader.MetaData().RowGroup(group).NumRows()
	locations := places.GetPageLocations()
	for i := len(locations) - 1; i >= 0; i-- {
		most = max(most, end-locations[i].FirstRowIndex)
		end = locations[i].FirstRowIndex
	}
	return most, nil
}

func mostRowsOfHeaders(reader *file.Reader, group, leaf int) (int64, error) {
	pages, err := reader.RowGroup(group).GetColumnPageReader(leaf)
	if err != nil {
		return 0, err
	}
	most := int64(0)
	for pages.Next() {
		most = max(most, rowsOf(pages.Page(), reader.MetaData().Schema.Column(leaf)))
	}
	return most, errors.Join(pages.Err(), pages.Close())
}

// rowsOf is how many rows a page holds, as far as its header says so: of lists, only one of version 2 does.
func rowsOf(page file.Page, column *schema.Column) int64 {
	switch page := page.(type) {
	case *file.DataPageV2:
		return int64(page.NumRows())
	case *file.DataPageV1:
		if column.MaxRepetitionLevel() == 0 {
			return int64(page.NumValues())
		}
	}
	return 0
}
