package main

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

// A kind is a type of index.
type kind struct {
	version uint8

	// placed says whether a blob of this type can be there; nil if it can be anywhere.
	placed func(head entryHead) bool

	// describes says whether an index of this type can be about these columns.
	describes func(leaves []leaf) bool

	// read returns the parts of a blob in the form of the protocol; false if their number is another, or cannot be read.
	read func(blob []byte, leaves []leaf, count uint64) ([]any, bool)
}

var typeNames = []string{"IDX1", "DISTINCT_SET", "ZONE_SUMS", "HLL", "KLL"}

const typeDistinctSet = 1

var kinds = map[uint16]kind{
	0:               {1, isInTheBody, isOneText, readIDX1},
	typeDistinctSet: {1, nil, isOneOrdered, readSets},
	2:               {1, nil, haveSums, readSums},
	3:               {1, nil, isOneOrdered, readSketches},
	4:               {1, nil, isOneNumber, readSketches},
}

// isInTheBody is for IDX1, whose readers may know of no directory.
func isInTheBody(head entryHead) bool {
	return head.Granularity == granularityFile && head.Placement == placementBody && format.CompressionCodec(head.Codec) == format.Uncompressed
}

func isOneText(leaves []leaf) bool {
	return len(leaves) == 1 && !leaves[0].repeated && leaves[0].isText()
}

func isOneOrdered(leaves []leaf) bool { return len(leaves) == 1 && leaves[0].isDescribable() }

func isOneNumber(leaves []leaf) bool { return isOneOrdered(leaves) && leaves[0].isNumber() }

func haveSums(leaves []leaf) bool {
	for i, one := range leaves {
		isKey := i < len(leaves)-1
		if !one.isDescribable() || (isKey && one.isFloating()) {
			return false
		}
	}
	return len(leaves) > 0
}

// ---------------------------------------------------------------------------------------------------------------------

const (
	setNulls    = 1
	setNaN      = 2
	setComplete = 4
)

type setHead struct {
	Flags        uint32
	ValueCount   uint32
	ValuesLength uint64
}

const setHeadSize = 16

// A set is a part of a distinct set.
type set struct {
	flags  uint32
	values []protocol.Value
}

func readSets(blob []byte, leaves []leaf, count uint64) ([]any, bool) {
	sets, ok := parseSets(blob, leaves[0], count)
	if !ok {
		return nil, false
	}
	parts := make([]any, count)
	for i, one := range sets {
		values, ok := writtenAll(one.values)
		if !ok {
			return nil, false
		}
		parts[i] = map[string]any{
			"complete": one.flags&setComplete != 0,
			"nulls":    one.flags&setNulls != 0,
			"nan":      one.flags&setNaN != 0,
			"values":   values,
		}
	}
	return parts, true
}

func parseSets(blob []byte, of leaf, count uint64) ([]set, bool) {
	rest := &cursor{left: blob}
	if uint64(rest.u32()) != count || !rest.has(count, setHeadSize) {
		return nil, false
	}
	heads := make([]setHead, count)
	rest.into(heads)
	sets := make([]set, count)
	for i, head := range heads {
		values, ok := of.values(rest.bytes(head.ValuesLength), uint64(head.ValueCount))
		if !ok {
			return nil, false
		}
		sets[i] = set{head.Flags, values}
	}
	return sets, !rest.failed && len(rest.left) == 0
}

// ---------------------------------------------------------------------------------------------------------------------

const (
	sumNone = iota
	sumInteger
	sumDouble
)

type sumsHead struct {
	PartCount  uint32
	GroupCount uint32
	KeyCount   uint16
	SumKind    uint8
	Reserved   uint8
}

type sumsGroup struct {
	RowCount  uint64
	NullCount uint64
	NaNCount  uint64
	SumLow    uint64
	SumHigh   int64
}

const (
	partSizeSize  = 4
	sumsGroupSize = 40
)

func readSums(blob []byte, leaves []leaf, count uint64) ([]any, bool) {
	keyColumns, measure := leaves[:len(leaves)-1], leaves[len(leaves)-1]
	rest := &cursor{left: blob}
	var head sumsHead
	rest.into(&head)
	if rest.failed || uint64(head.PartCount) != count || int(head.KeyCount) != len(keyColumns) || head.SumKind != measure.sumKind() {
		return nil, false
	}
	if !rest.has(count, partSizeSize) {
		return nil, false
	}
	sizes := make([]uint32, count)
	rest.into(sizes)
	if !rest.has(uint64(head.GroupCount), sumsGroupSize) {
		return nil, false
	}
	groups := make([]sumsGroup, head.GroupCount)
	rest.into(groups)
	keys, ok := readKeys(rest, keyColumns, len(groups))
	if !ok {
		return nil, false
	}
	var bounded uint64
	for _, group := range groups {
		if group.NullCount > group.RowCount || group.NaNCount > group.RowCount-group.NullCount {
			return nil, false
		}
		if group.hasMeasure() {
			bounded++
		}
	}
	minima, ok := writtenValues(measure, rest.bytes(rest.u64()), bounded)
	if !ok {
		return nil, false
	}
	maxima, ok := writtenValues(measure, rest.bytes(rest.u64()), bounded)
	if !ok || rest.failed || len(rest.left) > 0 {
		return nil, false
	}
	written := make([]any, len(groups))
	for i, group := range groups {
		one := map[string]any{
			"keys": keys[i], "row_count": group.RowCount, "null_count": group.NullCount, "nan_count": group.NaNCount,
		}
		if sum := group.sum(head.SumKind); sum != nil {
			one["sum"] = sum
		}
		if group.hasMeasure() {
			one["min"], one["max"] = minima[0], maxima[0]
			minima, maxima = minima[1:], maxima[1:]
		}
		written[i] = one
	}
	parts := make([]any, count)
	for i, size := range sizes {
		if uint64(size) > uint64(len(written)) || (len(keyColumns) == 0 && size != 1) {
			return nil, false
		}
		parts[i] = map[string]any{"groups": written[:size]}
		written = written[size:]
	}
	return parts, len(written) == 0
}

// readKeys returns the keys of each group.
func readKeys(rest *cursor, columns []leaf, groups int) ([][]any, bool) {
	keys := make([][]any, groups)
	for i := range keys {
		keys[i] = make([]any, len(columns)) // null, until a value takes its place
	}
	for i, column := range columns {
		nulls := rest.bytes(uint64(groups))
		present := uint64(bytes.Count(nulls, []byte{0}))
		values, ok := writtenValues(column, rest.bytes(rest.u64()), present)
		if rest.failed || !ok || present+uint64(bytes.Count(nulls, []byte{1})) != uint64(groups) {
			return nil, false
		}
		for group, isNull := range nulls {
			if isNull == 0 {
				keys[group][i], values = values[0], values[1:]
			}
		}
	}
	return keys, true
}

func (g sumsGroup) hasMeasure() bool { return g.RowCount > g.NullCount+g.NaNCount }

// sum is the sum of a group in the form of the protocol, nil if there is none.
func (g sumsGroup) sum(kind uint8) any {
	switch kind {
	case sumInteger:
		sum := new(big.Int).Lsh(big.NewInt(g.SumHigh), 64)
		sum.Add(sum, new(big.Int).SetUint64(g.SumLow))
		if sum.IsInt64() {
			return written(sum.Int64())
		}
		return map[string]string{"int": sum.String()}
	case sumDouble:
		return written(math.Float64frombits(g.SumLow))
	}
	return nil
}

// ---------------------------------------------------------------------------------------------------------------------

const sketchLengthSize = 8

// readSketches leaves the sketches to programs that know Apache DataSketches.
func readSketches(blob []byte, _ []leaf, count uint64) ([]any, bool) {
	rest := &cursor{left: blob}
	if uint64(rest.u32()) != count || !rest.has(count, sketchLengthSize) {
		return nil, false
	}
	lengths := make([]uint64, count)
	rest.into(lengths)
	parts := make([]any, count)
	for i, length := range lengths {
		parts[i] = map[string]any{"sketch": map[string]string{"bytes": hex.EncodeToString(rest.bytes(length))}}
	}
	return parts, !rest.failed && len(rest.left) == 0
}

// ---------------------------------------------------------------------------------------------------------------------

const idx1Magic = "IDX1"

func readIDX1(blob []byte, _ []leaf, _ uint64) ([]any, bool) {
	rest := &cursor{left: blob}
	magic := rest.bytes(uint64(len(idx1Magic)))
	payload := rest.bytes(rest.u64())
	if rest.failed || len(rest.left) > 0 || string(magic) != idx1Magic || !utf8.Valid(payload) {
		return nil, false
	}
	values := []any{}
	if len(payload) > 0 {
		for value := range strings.SplitSeq(string(payload), "\n") {
			values = append(values, value)
		}
	}
	return []any{map[string]any{"values": values}}, true
}

// written is a value that the protocol can always write: a number.
func written(value protocol.Value) any {
	json, err := protocol.Write(value)
	if err != nil {
		panic(err)
	}
	return json
}
