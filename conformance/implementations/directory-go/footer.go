package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	magic      = "PAR1"
	footerTail = 4 + len(magic) // the footer's length and the magic that ends the file
)

// The structs of a footer, as far as a directory needs them. Those of the library's package format do not tell a null count
// of 0 from one that is absent, and do not have the extension field.
type fileMetaData struct {
	Schema           thrift.Slice[format.SchemaElement] `thrift:"2,required"`
	RowGroups        thrift.Slice[rowGroup]             `thrift:"4,required"`
	KeyValueMetadata thrift.Slice[keyValue]             `thrift:"5,optional"`
	Extension        []byte                             `thrift:"32767,optional"`
}

type keyValue struct {
	Key   string              `thrift:"1,required"`
	Value thrift.Null[string] `thrift:"2,optional"`
}

type rowGroup struct {
	Columns thrift.Slice[columnChunk] `thrift:"1,required"`
	NumRows int64                     `thrift:"3,required"`
}

type columnChunk struct {
	MetaData          thrift.Null[chunkMetaData] `thrift:"3,optional"`
	OffsetIndexOffset thrift.Null[int64]         `thrift:"4,optional"`
	OffsetIndexLength thrift.Null[int32]         `thrift:"5,optional"`
}

type chunkMetaData struct {
	Codec                 int32      `thrift:"4,required"`
	NumValues             int64      `thrift:"5,required"`
	TotalUncompressedSize int64      `thrift:"6,required"`
	TotalCompressedSize   int64      `thrift:"7,required"`
	Statistics            statistics `thrift:"12,optional"`
}

type statistics struct {
	NullCount thrift.Null[int64] `thrift:"3,optional"`
	MaxValue  []byte             `thrift:"5,optional"` // nil if absent
	MinValue  []byte             `thrift:"6,optional"` // nil if absent
}

// A file is its bytes and what its footer says.
type file struct {
	content     []byte
	footerStart int
	footer      fileMetaData
	leaves      []leaf
	rows        uint64
}

// A leaf is a column of the file that has values.
type leaf struct {
	index      int // among the chunks of a row group
	path       []string
	element    format.SchemaElement
	annotation format.LogicalTypeValue // of a converted type as well; nil if there is none
	interval   bool                    // a converted type that no logical type replaces
	repeated   bool
}

func openFile(content []byte) (*file, error) {
	if len(content) < len(magic)+footerTail || !bytes.HasPrefix(content, []byte(magic)) || !bytes.HasSuffix(content, []byte(magic)) {
		return nil, errors.New("not a Parquet file")
	}
	length := uint64(binary.LittleEndian.Uint32(content[len(content)-footerTail:]))
	if length > uint64(len(content)-len(magic)-footerTail) {
		return nil, fmt.Errorf("the footer has %d bytes, more than the file", length)
	}
	end := len(content) - footerTail
	opened := &file{content: content, footerStart: end - int(length)}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), content[opened.footerStart:end], &opened.footer); err != nil {
		return nil, fmt.Errorf("the footer cannot be read: %w", err)
	}
	for _, group := range opened.footer.RowGroups {
		opened.rows += uint64(group.NumRows)
	}
	return opened, opened.readSchema()
}

// readSchema finds the leaves of the schema, a list of elements in which each group is followed by its children.
func (f *file) readSchema() error {
	type open struct {
		left     int32
		path     []string
		repeated bool
	}
	if len(f.footer.Schema) == 0 {
		return errors.New("the schema has no root")
	}
	groups := []open{{left: f.footer.Schema[0].NumChildren.V}}
	for _, element := range f.footer.Schema[1:] {
		for len(groups) > 0 && groups[len(groups)-1].left == 0 {
			groups = groups[:len(groups)-1]
		}
		if len(groups) == 0 {
			return errors.New("the schema has more elements than its groups")
		}
		parent := &groups[len(groups)-1]
		parent.left--
		path := append(slices.Clone(parent.path), element.Name)
		repeated := parent.repeated || element.RepetitionType.V == format.Repeated
		if element.Type.Valid {
			found := leaf{index: len(f.leaves), path: path, element: element, repeated: repeated}
			found.annotation = annotationOf(element)
			converted, ok := element.ConvertedType.Get()
			found.interval = ok && converted == deprecated.Interval
			f.leaves = append(f.leaves, found)
		} else {
			groups = append(groups, open{element.NumChildren.V, path, repeated})
		}
	}
	return nil
}

// column is the column of this path, if the file has one and no other of the same path.
func (f *file) column(path []string) (found leaf, ok bool) {
	for _, one := range f.leaves {
		if slices.Equal(one.path, path) {
			if ok {
				return leaf{}, false
			}
			found, ok = one, true
		}
	}
	return found, ok
}

// chunk is what a row group says about a column, if it does.
func (g rowGroup) chunk(of leaf) (columnChunk, bool) {
	if of.index >= len(g.Columns) {
		return columnChunk{}, false
	}
	return g.Columns[of.index], true
}

// pages is the number of data pages of a column, if every chunk that has some has an offset index that can be read.
func (f *file) pages(of leaf) (uint64, bool) {
	var count uint64
	for _, group := range f.footer.RowGroups {
		if group.NumRows == 0 {
			continue
		}
		chunk, ok := group.chunk(of)
		if !ok || !chunk.OffsetIndexOffset.Valid || !chunk.OffsetIndexLength.Valid {
			return 0, false
		}
		stored, ok := within(f.content[:f.footerStart], uint64(chunk.OffsetIndexOffset.V), uint64(chunk.OffsetIndexLength.V))
		if !ok {
			return 0, false
		}
		var index format.OffsetIndex
		if thrift.Unmarshal(new(thrift.CompactProtocol), stored, &index) != nil {
			return 0, false
		}
		count += uint64(len(index.PageLocations))
	}
	return count, true
}

// within is a range of bytes, if it lies within them.
func within(content []byte, offset, length uint64) ([]byte, bool) {
	size := uint64(len(content))
	if offset > size || length > size-offset {
		return nil, false
	}
	return content[offset : offset+length], true
}
