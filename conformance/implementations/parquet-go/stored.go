package main

import (
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

// lookedUp are the values to look up for a literal: one, but for a zero, which has two signs. It is empty if the column does not
// store the literal, or in ways that are not looked up here, such as INT96.
func lookedUp(typ parquet.Type, literal protocol.Value) []parquet.Value {
	candidates := []protocol.Value{literal}
	if literal == 0.0 {
		candidates = []protocol.Value{0.0, math.Copysign(0, -1)}
	}
	var stored []parquet.Value
	for _, candidate := range candidates {
		if value, ok := storedValue(typ, candidate); ok {
			stored = append(stored, value)
		}
	}
	return stored
}

// storedValue is how a column of a type stores a value, and false if it cannot.
func storedValue(typ parquet.Type, value protocol.Value) (parquet.Value, bool) {
	kind := typ.Kind()
	switch v := value.(type) {
	case bool:
		return parquet.BooleanValue(v), kind == parquet.Boolean
	case string:
		return parquet.ByteArrayValue([]byte(v)), kind == parquet.ByteArray
	case protocol.Bytes:
		if kind == parquet.FixedLenByteArray {
			return parquet.FixedLenByteArrayValue(v), len(v) == typ.Length()
		}
		return parquet.ByteArrayValue(v), kind == parquet.ByteArray
	case float64:
		if kind == parquet.Float {
			return parquet.FloatValue(float32(v)), float64(float32(v)) == v || math.IsNaN(v)
		}
		return parquet.DoubleValue(v), kind == parquet.Double
	case protocol.Decimal:
		return storedDecimal(typ, v)
	}
	number, ok := storedNumber(typ, value)
	if kind == parquet.Int32 {
		return parquet.Int32Value(int32(number)), ok
	}
	return parquet.Int64Value(number), ok && kind == parquet.Int64
}

// storedNumber is for whole numbers, dates and times.
func storedNumber(typ parquet.Type, value protocol.Value) (int64, bool) {
	switch logical := annotation(typ).(type) {
	case *format.DateType:
		days, ok := value.(protocol.Date)
		return int64(days), ok
	case *format.TimeType:
		_, isTime := value.(protocol.Time)
		number, ok := protocol.StoredInteger(value, unitOf(logical.Unit), 0)
		return number, ok && isTime
	case *format.TimestampType:
		_, isTimestamp := value.(protocol.Timestamp)
		number, ok := protocol.StoredInteger(value, unitOf(logical.Unit), 0)
		return number, ok && isTimestamp
	case *format.IntType:
		return storedInteger(value, int(logical.BitWidth), logical.IsSigned)
	}
	return storedInteger(value, 64, true)
}

func storedInteger(value protocol.Value, width int, signed bool) (int64, bool) {
	switch v := value.(type) {
	case uint64:
		return int64(v), !signed && width == 64
	case int64:
		if signed {
			limit := int64(1) << (width - 1) // negative for a width of 64
			return v, width == 64 || (v >= -limit && v < limit)
		}
		return v, v >= 0 && (width == 64 || v>>width == 0)
	}
	return 0, false
}

func storedDecimal(typ parquet.Type, decimal protocol.Decimal) (parquet.Value, bool) {
	logical, ok := annotation(typ).(*format.DecimalType)
	if !ok {
		return parquet.Value{}, false
	}
	unscaled, exact := decimal.At(int(logical.Scale))
	switch typ.Kind() {
	case parquet.Int32:
		return parquet.Int32Value(int32(unscaled.Int64())), exact && unscaled.BitLen() < 32
	case parquet.Int64:
		return parquet.Int64Value(unscaled.Int64()), exact && unscaled.BitLen() < 64
	case parquet.FixedLenByteArray:
		content, fits := protocol.ToBigEndian(unscaled, typ.Length())
		return parquet.FixedLenByteArrayValue(content), exact && fits
	}
	return parquet.Value{}, false // as BYTE_ARRAY: of how many bytes is not said
}
