package main

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"pqassay/protocol"
)

var plainTypes = map[string]arrow.DataType{
	"boolean":          arrow.FixedWidthTypes.Boolean,
	"int8":             arrow.PrimitiveTypes.Int8,
	"int16":            arrow.PrimitiveTypes.Int16,
	"int32":            arrow.PrimitiveTypes.Int32,
	"int64":            arrow.PrimitiveTypes.Int64,
	"uint8":            arrow.PrimitiveTypes.Uint8,
	"uint16":           arrow.PrimitiveTypes.Uint16,
	"uint32":           arrow.PrimitiveTypes.Uint32,
	"uint64":           arrow.PrimitiveTypes.Uint64,
	"float16":          arrow.FixedWidthTypes.Float16,
	"float":            arrow.PrimitiveTypes.Float32,
	"double":           arrow.PrimitiveTypes.Float64,
	"string":           arrow.BinaryTypes.String,
	"binary":           arrow.BinaryTypes.Binary,
	"date":             arrow.FixedWidthTypes.Date32,
	"time_millis":      arrow.FixedWidthTypes.Time32ms,
	"time_micros":      arrow.FixedWidthTypes.Time64us,
	"time_nanos":       arrow.FixedWidthTypes.Time64ns,
	"timestamp_millis": arrow.FixedWidthTypes.Timestamp_ms, // these are in UTC
	"timestamp_micros": arrow.FixedWidthTypes.Timestamp_us,
	"timestamp_nanos":  arrow.FixedWidthTypes.Timestamp_ns,
	"uuid":             extensions.NewUUIDType(),
	"unknown":          arrow.Null,
}

// arrowType is the type of Arrow for a type of the protocol.
func arrowType(asked protocol.Type) (arrow.DataType, error) {
	parts := make([]arrow.DataType, len(asked.Parts))
	for i, part := range asked.Parts {
		var err error
		if parts[i], err = arrowType(part.Type); err != nil {
			return nil, err
		}
	}
	switch {
	case asked.Name == "list" && len(parts) == 1:
		return arrow.ListOf(parts[0]), nil
	case asked.Name == "map" && len(parts) == 2:
		return arrow.MapOf(parts[0], parts[1]), nil
	case asked.Name == "struct":
		fields := make([]arrow.Field, len(parts))
		for i, part := range asked.Parts {
			fields[i] = arrow.Field{Name: part.Name, Type: parts[i], Nullable: true}
		}
		return arrow.StructOf(fields...), nil
	case asked.Name == "decimal" && len(asked.Numbers) == 2:
		return arrow.NewDecimalType(arrow.DECIMAL128, int32(asked.Numbers[0]), int32(asked.Numbers[1]))
	case asked.Name == "fixed" && len(asked.Numbers) == 1:
		return &arrow.FixedSizeBinaryType{ByteWidth: asked.Numbers[0]}, nil
	}
	if plain, ok := plainTypes[asked.Name]; ok {
		return plain, nil
	}
	return nil, protocol.Unsupported("type " + asked.Name)
}

// appendValue appends a value of the protocol to an array in the making.
func appendValue(builder array.Builder, value protocol.Value) error {
	if value == nil {
		builder.AppendNull()
		return nil
	}
	switch v := value.(type) {
	case protocol.List:
		return appendList(builder, v)
	case protocol.Map:
		return appendMap(builder, v)
	case protocol.Struct:
		return appendStruct(builder, v)
	case bool:
		if b, ok := builder.(*array.BooleanBuilder); ok {
			b.Append(v)
			return nil
		}
	case string:
		if b, ok := builder.(*array.StringBuilder); ok {
			b.Append(v)
			return nil
		}
	case protocol.Bytes:
		return appendBytes(builder, v)
	case float64:
		return appendFloat(builder, v)
	}
	return appendNumber(builder, value)
}

func appendList(builder array.Builder, elements protocol.List) error {
	b, ok := builder.(*array.ListBuilder)
	if !ok {
		return misfit(builder, elements)
	}
	b.Append(true)
	for _, element := range elements {
		if err := appendValue(b.ValueBuilder(), element); err != nil {
			return err
		}
	}
	return nil
}

func appendMap(builder array.Builder, entries protocol.Map) error {
	b, ok := builder.(*array.MapBuilder)
	if !ok {
		return misfit(builder, entries)
	}
	b.Append(true)
	for _, entry := range entries {
		if err := appendValue(b.KeyBuilder(), entry.Key); err != nil {
			return err
		}
		if err := appendValue(b.ItemBuilder(), entry.Value); err != nil {
			return err
		}
	}
	return nil
}

// appendStruct goes by the names of the members, since those of a value in JSON have no order.
func appendStruct(builder array.Builder, members protocol.Struct) error {
	b, ok := builder.(*array.StructBuilder)
	if !ok {
		return misfit(builder, members)
	}
	b.Append(true)
	named := map[string]protocol.Value{}
	for _, member := range members {
		named[member.Name] = member.Value
	}
	for i, field := range b.Type().(*arrow.StructType).Fields() {
		if err := appendValue(b.FieldBuilder(i), named[field.Name]); err != nil {
			return err
		}
	}
	return nil
}

func appendBytes(builder array.Builder, content []byte) error {
	switch b := builder.(type) {
	case *array.BinaryBuilder:
		b.Append(content)
		return nil
	case *array.FixedSizeBinaryBuilder:
		b.Append(content)
		return nil
	case interface{ StorageBuilder() array.Builder }: // of an extension type: UUID
		return appendBytes(b.StorageBuilder(), content)
	}
	return misfit(builder, content)
}

func appendFloat(builder array.Builder, v float64) error {
	switch b := builder.(type) {
	case *array.Float16Builder:
		b.Append(float16.New(float32(v)))
	case *array.Float32Builder:
		b.Append(float32(v))
	case *array.Float64Builder:
		b.Append(v)
	default:
		return misfit(builder, v)
	}
	return nil
}

// appendNumber is for whole numbers, decimals, dates and times.
func appendNumber(builder array.Builder, value protocol.Value) error {
	switch v := value.(type) {
	case int64:
		if appendInteger(builder, v) {
			return nil
		}
	case uint64: // beyond those of 64 bits with a sign
		if b, ok := builder.(*array.Uint64Builder); ok {
			b.Append(v)
			return nil
		}
	case protocol.Date:
		if b, ok := builder.(*array.Date32Builder); ok {
			b.Append(arrow.Date32(v))
			return nil
		}
	case protocol.Decimal:
		if b, ok := builder.(*array.Decimal128Builder); ok {
			return appendDecimal(b, v)
		}
	case protocol.Time, protocol.Timestamp:
		if appendTime(builder, value) {
			return nil
		}
	}
	return misfit(builder, value)
}

// appendInteger is false if the type of the array does not hold the number.
func appendInteger(builder array.Builder, number int64) bool {
	switch b := builder.(type) {
	case *array.Int8Builder:
		return narrow(b.Append, number)
	case *array.Int16Builder:
		return narrow(b.Append, number)
	case *array.Int32Builder:
		return narrow(b.Append, number)
	case *array.Int64Builder:
		return narrow(b.Append, number)
	case *array.Uint8Builder:
		return narrow(b.Append, number)
	case *array.Uint16Builder:
		return narrow(b.Append, number)
	case *array.Uint32Builder:
		return narrow(b.Append, number)
	case *array.Uint64Builder:
		return number >= 0 && narrow(b.Append, number)
	}
	return false
}

func narrow[T arrow.IntType | arrow.UintType](appendTo func(T), number int64) bool {
	if int64(T(number)) != number {
		return false
	}
	appendTo(T(number))
	return true
}

// appendTime is false if the type of the array is another, or too coarse for the value.
func appendTime(builder array.Builder, value protocol.Value) bool {
	temporal, ok := builder.Type().(arrow.TemporalWithUnit)
	if !ok {
		return false
	}
	count, exact := protocol.StoredInteger(value, temporal.TimeUnit().Multiplier(), 0)
	if !exact {
		return false
	}
	_, isTime := value.(protocol.Time)
	switch b := builder.(type) {
	case *array.Time32Builder:
		return isTime && narrow(func(v int32) { b.Append(arrow.Time32(v)) }, count)
	case *array.Time64Builder:
		b.Append(arrow.Time64(count))
		return isTime
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(count))
		return !isTime
	}
	return false
}

func appendDecimal(builder *array.Decimal128Builder, decimal protocol.Decimal) error {
	unscaled, exact := decimal.At(scaleOfType(builder.Type()))
	if !exact || unscaled.BitLen() > math.MaxInt8 {
		return misfit(builder, decimal)
	}
	builder.Append(decimal128.FromBigInt(unscaled))
	return nil
}

func scaleOfType(typ arrow.DataType) int {
	return int(typ.(arrow.DecimalType).GetScale())
}

func misfit(builder array.Builder, value any) error {
	return protocol.Unsupported(fmt.Sprintf("a value of type %T in a column of %s", value, builder.Type()))
}
