package main

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"pqassay/protocol"
)

// statisticsBounds are the bounds of a chunk as the library returns them, in the physical type of the column.
func statisticsBounds(statistics metadata.TypedStatistics) (least, greatest any) {
	switch s := statistics.(type) {
	case *metadata.BooleanStatistics:
		return s.Min(), s.Max()
	case *metadata.Int32Statistics:
		return s.Min(), s.Max()
	case *metadata.Int64Statistics:
		return s.Min(), s.Max()
	case *metadata.Int96Statistics:
		return s.Min(), s.Max()
	case *metadata.Float32Statistics:
		return s.Min(), s.Max()
	case *metadata.Float64Statistics:
		return s.Min(), s.Max()
	case *metadata.ByteArrayStatistics:
		return s.Min(), s.Max()
	case *metadata.FixedLenByteArrayStatistics:
		return s.Min(), s.Max()
	case *metadata.Float16Statistics:
		return s.Min(), s.Max()
	}
	panic(fmt.Sprintf("statistics of type %T", statistics))
}

// minimums is the lower bound of each page, in the physical type of the column.
func minimums(index metadata.ColumnIndex) func(page int) any {
	least, _ := pageBounds(index)
	return least
}

// maximums is the upper bound of each page, in the physical type of the column.
func maximums(index metadata.ColumnIndex) func(page int) any {
	_, greatest := pageBounds(index)
	return greatest
}

func pageBounds(index metadata.ColumnIndex) (least, greatest func(page int) any) {
	switch typed := index.(type) {
	case *metadata.TypedColumnIndex[bool]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[int32]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[int64]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[parquet.Int96]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[float32]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[float64]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[parquet.ByteArray]:
		return typedBounds(typed)
	case *metadata.TypedColumnIndex[parquet.FixedLenByteArray]:
		return typedBounds(typed)
	}
	panic(fmt.Sprintf("a column index of type %T", index))
}

func typedBounds[T parquet.ColumnTypes](index *metadata.TypedColumnIndex[T]) (least, greatest func(page int) any) {
	minima, maxima := index.MinValues(), index.MaxValues()
	return func(page int) any { return minima[page] }, func(page int) any { return maxima[page] }
}

// logicalValue is the value that a value of a physical type stands for.
func logicalValue(column *schema.Column, physical any) (protocol.Value, error) {
	switch v := physical.(type) {
	case bool:
		return v, nil
	case int32:
		return integer(column, int64(v), uint64(uint32(v))), nil
	case int64:
		return integer(column, v, uint64(v)), nil
	case parquet.Int96:
		return protocol.Int96(binary.LittleEndian.Uint32(v[8:]), binary.LittleEndian.Uint64(v[:8])), nil
	case float32:
		return float64(v), nil
	case float64:
		return v, nil
	case parquet.ByteArray:
		return logicalBytes(column, v)
	case parquet.FixedLenByteArray:
		return logicalBytes(column, v)
	}
	panic(fmt.Sprintf("a physical value of type %T", physical))
}

func integer(column *schema.Column, signed int64, unsigned uint64) protocol.Value {
	switch logical := column.LogicalType().(type) {
	case schema.IntLogicalType:
		if !logical.IsSigned() {
			return unsigned
		}
	case schema.DateLogicalType:
		return protocol.Date(signed)
	case schema.TimeLogicalType:
		return protocol.TimeOf(signed, unitNamed(logical.TimeUnit()))
	case schema.TimestampLogicalType:
		return protocol.TimestampOf(signed, unitNamed(logical.TimeUnit()))
	case schema.DecimalLogicalType:
		return protocol.Decimal{Unscaled: big.NewInt(signed), Scale: int(logical.Scale())}
	}
	return signed
}

func unitNamed(unit schema.TimeUnitType) time.Duration {
	switch unit {
	case schema.TimeUnitMillis:
		return time.Millisecond
	case schema.TimeUnitMicros:
		return time.Microsecond
	}
	return time.Nanosecond
}

func logicalBytes(column *schema.Column, stored []byte) (protocol.Value, error) {
	switch logical := column.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return protocol.Decimal{Unscaled: protocol.BigEndian(stored), Scale: int(logical.Scale())}, nil
	case schema.Float16LogicalType:
		if len(stored) != arrow.Float16SizeBytes {
			return nil, fmt.Errorf("a FLOAT16 of %d bytes", len(stored))
		}
		return float64(float16.FromLEBytes(stored).Float32()), nil
	}
	if isText(column.LogicalType()) {
		return string(stored), nil
	}
	return protocol.Bytes(stored), nil
}
