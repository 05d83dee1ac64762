package main

import (
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"pqassay/protocol"
)

// value is the value at a place of an array that the library read for a field.
func (t *table) value(field *pqarrow.SchemaField, values arrow.Array, i int) (protocol.Value, error) {
	if values.IsNull(i) {
		return nil, nil
	}
	switch a := values.(type) {
	case array.ExtensionArray:
		return t.value(field, a.Storage(), i)
	case *array.Dictionary:
		return t.value(field, a.Dictionary(), a.GetValueIndex(i))
	case *array.Struct:
		return t.structValue(field, a, i)
	case *array.Map:
		return t.mapValue(field, a, i)
	case array.ListLike:
		return t.listValue(field, a, i)
	case *array.Binary:
		return t.binaryValue(field, a.Value(i)), nil
	case *array.LargeBinary:
		return t.binaryValue(field, a.Value(i)), nil
	}
	return plainValue(values, i)
}

// binaryValue is text where Parquet says so, which Arrow's types keep for STRING alone.
func (t *table) binaryValue(field *pqarrow.SchemaField, content []byte) protocol.Value {
	if isText(t.file.MetaData().Schema.Column(field.ColIndex).LogicalType()) {
		return string(content)
	}
	return protocol.Bytes(content)
}

func isText(logical schema.LogicalType) bool {
	switch logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return true
	}
	return false
}

func (t *table) structValue(field *pqarrow.SchemaField, values *array.Struct, i int) (protocol.Value, error) {
	members := make(protocol.Struct, values.NumField())
	for j := range members {
		child := &field.Children[j]
		value, err := t.value(child, values.Field(j), i)
		if err != nil {
			return nil, err
		}
		members[j] = protocol.Member{Name: child.Field.Name, Value: value}
	}
	return members, nil
}

func (t *table) listValue(field *pqarrow.SchemaField, values array.ListLike, i int) (protocol.Value, error) {
	from, to := values.ValueOffsets(i)
	list := make(protocol.List, 0, to-from)
	for at := from; at < to; at++ {
		value, err := t.value(&field.Children[0], values.ListValues(), int(at))
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func (t *table) mapValue(field *pqarrow.SchemaField, values *array.Map, i int) (protocol.Value, error) {
	entry := field.Children[0]
	from, to := values.ValueOffsets(i)
	entries := make(protocol.Map, 0, to-from)
	for at := from; at < to; at++ {
		key, err := t.value(&entry.Children[0], values.Keys(), int(at))
		if err != nil {
			return nil, err
		}
		value, err := t.value(&entry.Children[1], values.Items(), int(at))
		if err != nil {
			return nil, err
		}
		entries = append(entries, protocol.Entry{Key: key, Value: value})
	}
	return entries, nil
}

// plainValue is a value of a type that says all by itself.
func plainValue(values arrow.Array, i int) (protocol.Value, error) {
	switch a := values.(type) {
	case *array.Null:
		return nil, nil
	case *array.Boolean:
		return a.Value(i), nil
	case *array.Float16:
		return float64(a.Value(i).Float32()), nil
	case *array.Float32:
		return float64(a.Value(i)), nil
	case *array.Float64:
		return a.Value(i), nil
	case *array.String:
		return a.Value(i), nil
	case *array.LargeString:
		return a.Value(i), nil
	case *array.FixedSizeBinary:
		return protocol.Bytes(a.Value(i)), nil
	case *array.Decimal32:
		return protocol.Decimal{Unscaled: big.NewInt(int64(a.Value(i))), Scale: scaleOf(a)}, nil
	case *array.Decimal64:
		return protocol.Decimal{Unscaled: big.NewInt(int64(a.Value(i))), Scale: scaleOf(a)}, nil
	case *array.Decimal128:
		return protocol.Decimal{Unscaled: a.Value(i).BigInt(), Scale: scaleOf(a)}, nil
	case *array.Decimal256:
		return protocol.Decimal{Unscaled: a.Value(i).BigInt(), Scale: scaleOf(a)}, nil
	}
	return integerValue(values, i)
}

func scaleOf(values arrow.Array) int {
	return scaleOfType(values.DataType())
}

// integerValue is a whole number, or one that counts days or a unit of time.
func integerValue(values arrow.Array, i int) (protocol.Value, error) {
	switch a := values.(type) {
	case *array.Int8:
		return int64(a.Value(i)), nil
	case *array.Int16:
		return int64(a.Value(i)), nil
	case *array.Int32:
		return int64(a.Value(i)), nil
	case *array.Int64:
		return a.Value(i), nil
	case *array.Uint8:
		return uint64(a.Value(i)), nil
	case *array.Uint16:
		return uint64(a.Value(i)), nil
	case *array.Uint32:
		return uint64(a.Value(i)), nil
	case *array.Uint64:
		return a.Value(i), nil
	case *array.Duration: // what Parquet stores as INT64, and only the Arrow schema beside it knows as a duration
		return int64(a.Value(i)), nil
	case *array.Date32:
		return protocol.Date(a.Value(i)), nil
	case *array.Date64:
		return protocol.Date(int64(a.Value(i)) / int64(24*time.Hour/time.Millisecond)), nil
	case *array.Time32:
		return protocol.TimeOf(int64(a.Value(i)), unitOf(a)), nil
	case *array.Time64:
		return protocol.TimeOf(int64(a.Value(i)), unitOf(a)), nil
	case *array.Timestamp:
		return protocol.TimestampOf(int64(a.Value(i)), unitOf(a)), nil
	}
	return nil, protocol.Unsupported("values of " + values.DataType().String())
}

func unitOf(values arrow.Array) time.Duration {
	return values.DataType().(arrow.TemporalWithUnit).TimeUnit().Multiplier()
}
