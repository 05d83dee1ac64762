package main

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const absent = -1 // of numbers that the footer does not give

// chunkShape is what the shape takes of a chunk, but for its bounds.
type chunkShape struct {
	NumRows          int64
	NumValues        int64
	UncompressedSize int64
	CompressedSize   int64
	Codec            uint32
	NullCount        int64
}

// described are the columns of an entry; false if one is not in the file, or if the entry was made from other data.
func (e entry) described(f *file) ([]leaf, bool) {
	if e.head.RowCount != f.rows {
		return nil, false
	}
	var leaves []leaf
	var shape []byte
	for _, path := range e.columns {
		found, ok := f.column(path)
		if !ok {
			return nil, false
		}
		leaves = append(leaves, found)
		if shape, ok = f.appendShape(shape, found); !ok {
			return nil, false
		}
	}
	return leaves, xxhash.Sum64(shape) == e.head.Shape
}

// appendShape appends what the footer says about a column, in the bytes that the shape is the digest of.
func (f *file) appendShape(shape []byte, of leaf) ([]byte, bool) {
	shape = append(shape, uint8(len(of.path)))
	for _, name := range of.path {
		shape = binary.LittleEndian.AppendUint16(shape, uint16(len(name)))
		shape = append(shape, name...)
	}
	typeLength := int64(absent)
	if length, ok := of.element.TypeLength.Get(); ok {
		typeLength = int64(length)
	}
	shape = binary.LittleEndian.AppendUint32(shape, uint32(of.element.Type.V))
	shape = binary.LittleEndian.AppendUint64(shape, uint64(typeLength))
	shape = binary.LittleEndian.AppendUint32(shape, uint32(len(f.footer.RowGroups)))
	for _, group := range f.footer.RowGroups {
		chunk, ok := group.chunk(of)
		if !ok || !chunk.MetaData.Valid {
			return nil, false
		}
		said := chunk.MetaData.V
		nullCount := int64(absent)
		if count, ok := said.Statistics.NullCount.Get(); ok {
			nullCount = count
		}
		counts := chunkShape{
			group.NumRows, said.NumValues, said.TotalUncompressedSize, said.TotalCompressedSize, uint32(said.Codec), nullCount,
		}
		var err error
		if shape, err = binary.Append(shape, binary.LittleEndian, counts); err != nil {
			return nil, false
		}
		shape = appendBound(appendBound(shape, said.Statistics.MinValue), said.Statistics.MaxValue)
	}
	return shape, true
}

func appendBound(shape, bound []byte) []byte {
	isThere := uint8(0)
	if bound != nil {
		isThere = 1
	}
	shape = append(shape, isThere)
	shape = binary.LittleEndian.AppendUint32(shape, uint32(len(bound)))
	return append(shape, bound...)
}
