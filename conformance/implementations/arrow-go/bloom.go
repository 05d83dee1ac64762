package main

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"pqassay/protocol"
)

// bloomFilter asks the bloom filter of a chunk for a value; nil if the library finds no filter.
func bloomFilter(reader *file.Reader, group, leaf int) (func(protocol.Value) (bool, error), error) {
	filter, err := readFilter(reader, group, leaf)
	if filter == nil || err != nil {
		return nil, err
	}
	column := reader.MetaData().Schema.Column(leaf)
	return func(literal protocol.Value) (bool, error) { return mayHold(filter, column, literal), nil }, nil
}

func readFilter(reader *file.Reader, group, leaf int) (metadata.BloomFilter, error) {
	filters, err := reader.GetBloomFilterReader().RowGroup(group)
	if err != nil {
		return nil, err
	}
	return filters.GetColumnBloomFilter(leaf)
}

// mayHold says whether a filter may hold a literal, which is true as well where the driver does not know how the column
// stores it.
func mayHold(filter metadata.BloomFilter, column *schema.Column, literal protocol.Value) bool {
	stored := physicalValues(column, literal)
	for _, value := range stored {
		if check(filter, value) {
			return true
		}
	}
	return len(stored) == 0
}

func check(filter metadata.BloomFilter, physical any) bool {
	switch v := physical.(type) {
	case bool:
		return (&metadata.TypedBloomFilter[bool]{BloomFilter: filter}).Check(v)
	case int32:
		return (&metadata.TypedBloomFilter[int32]{BloomFilter: filter}).Check(v)
	case int64:
		return (&metadata.TypedBloomFilter[int64]{BloomFilter: filter}).Check(v)
	case float32:
		return (&metadata.TypedBloomFilter[float32]{BloomFilter: filter}).Check(v)
	case float64:
		return (&metadata.TypedBloomFilter[float64]{BloomFilter: filter}).Check(v)
	case parquet.ByteArray:
		return (&metadata.TypedBloomFilter[parquet.ByteArray]{BloomFilter: filter}).Check(v)
	case parquet.FixedLenByteArray:
		return (&metadata.TypedBloomFilter[parquet.FixedLenByteArray]{BloomFilter: filter}).Check(v)
	}
	return true
}

// physicalValues are the ways in which a column may store a literal: one, but for a zero, which has two signs. It is empty if the
// column does not store the literal, or in ways that are not looked up here, such as INT96.
func physicalValues(column *schema.Column, literal protocol.Value) []any {
	switch v := literal.(type) {
	case bool:
		return []any{v}
	case string:
		return []any{parquet.ByteArray(v)}
	case protocol.Bytes:
		if column.PhysicalType() == parquet.Types.FixedLenByteArray {
			return []any{parquet.FixedLenByteArray(v)}
		}
		return []any{parquet.ByteArray(v)}
	case float64:
		if v == 0 {
			return append(physicalFloat(column, 0), physicalFloat(column, math.Copysign(0, -1))...)
		}
		return physicalFloat(column, v)
	}
	return physicalNumber(column, literal)
}

func physicalFloat(column *schema.Column, v float64) []any {
	switch column.PhysicalType() {
	case parquet.Types.Double:
		return []any{v}
	case parquet.Types.Float:
		if float64(float32(v)) == v {
			return []any{float32(v)}
		}
	case parquet.Types.FixedLenByteArray:
		if half := float16.New(float32(v)); float64(half.Float32()) == v {
			return []any{parquet.FixedLenByteArray(half.ToLEBytes())}
		}
	}
	return nil
}

// physicalNumber is for whole numbers, decimals, dates and times.
func physicalNumber(column *schema.Column, literal protocol.Value) []any {
	unit, scale := time.Nanosecond, 0
	switch logical := column.LogicalType().(type) {
	case schema.TimeLogicalType:
		unit = unitNamed(logical.TimeUnit())
	case schema.TimestampLogicalType:
		unit = unitNamed(logical.TimeUnit())
	case schema.DecimalLogicalType:
		scale = int(logical.Scale())
	}
	if decimal, ok := literal.(protocol.Decimal); ok && column.PhysicalType() == parquet.Types.FixedLenByteArray {
		return fixedDecimal(decimal, scale, column.TypeLength())
	}
	number, ok := protocol.StoredInteger(literal, unit, scale)
	if !ok {
		return nil
	}
	switch column.PhysicalType() {
	case parquet.Types.Int32:
		return []any{int32(number)}
	case parquet.Types.Int64:
		return []any{number}
	}
	return nil
}

func fixedDecimal(decimal protocol.Decimal, scale, size int) []any {
	unscaled, exact := decimal.At(scale)
	if !exact {
		return nil
	}
	stored, fits := protocol.ToBigEndian(unscaled, size)
	if !fits {
		return nil
	}
	return []any{parquet.FixedLenByteArray(stored)}
}
