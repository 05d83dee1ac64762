package main

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

var bothZeros = []float64{0, math.Copysign(0, -1)}

// annotation is the logical type of a type, which the library knows of converted types as well; nil if there is none.
func annotation(typ parquet.Type) format.LogicalTypeValue {
	if logical := typ.LogicalType(); logical != nil {
		return logical.Value
	}
	return nil
}

// leafValue is what a value that the library returned stands for.
func leafValue(typ parquet.Type, value parquet.Value) protocol.Value {
	if value.IsNull() {
		return nil
	}
	switch value.Kind() {
	case parquet.Boolean:
		return value.Boolean()
	case parquet.Int32:
		return integer(typ, int64(value.Int32()), uint64(value.Uint32()))
	case parquet.Int64:
		return integer(typ, value.Int64(), value.Uint64())
	case parquet.Int96:
		words := value.Int96()
		return protocol.Int96(words[2], uint64(words[1])<<32|uint64(words[0]))
	case parquet.Float:
		return float64(value.Float())
	case parquet.Double:
		return value.Double()
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return bytesValue(typ, value.ByteArray())
	}
	panic(fmt.Sprintf("a value of kind %s", value.Kind()))
}

func integer(typ parquet.Type, signed int64, unsigned uint64) protocol.Value {
	switch logical := annotation(typ).(type) {
	case *format.IntType:
		if !logical.IsSigned {
			return unsigned
		}
	case *format.DateType:
		return protocol.Date(signed)
	case *format.TimeType:
		return protocol.TimeOf(signed, unitOf(logical.Unit))
	case *format.TimestampType:
		return protocol.TimestampOf(signed, unitOf(logical.Unit))
	case *format.DecimalType:
		return protocol.Decimal{Unscaled: big.NewInt(signed), Scale: int(logical.Scale)}
	}
	return signed
}

func unitOf(unit format.TimeUnit) time.Duration {
	return unit.Value.Duration()
}

func bytesValue(typ parquet.Type, content []byte) protocol.Value {
	switch logical := annotation(typ).(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return string(content)
	case *format.DecimalType:
		return protocol.Decimal{Unscaled: protocol.BigEndian(content), Scale: int(logical.Scale)}
	}
	return protocol.Bytes(bytes.Clone(content)) // the library may use the buffer again
}

// storedValues are the ways in which a column may store a literal: one, but for a zero, which has two signs. It is empty if the
// column does not store the literal, or in ways that are not looked up here, such as INT96.
func storedValues(typ parquet.Type, literal protocol.Value) []parquet.Value {
	switch v := literal.(type) {
	case bool:
		return []parquet.Value{parquet.BooleanValue(v)}
	case string:
		return []parquet.Value{parquet.ByteArrayValue([]byte(v))}
	case protocol.Bytes:
		if typ.Kind() == parquet.FixedLenByteArray {
			return []parquet.Value{parquet.FixedLenByteArrayValue(v)}
		}
		return []parquet.Value{parquet.ByteArrayValue(v)}
	case float64:
		return storedFloats(typ, v)
	}
	return storedNumber(typ, literal)
}

func storedFloats(typ parquet.Type, v float64) []parquet.Value {
	signs := []float64{v}
	if v == 0 {
		signs = bothZeros
	}
	var stored []parquet.Value
	for _, v := range signs {
		switch {
		case typ.Kind() == parquet.Double:
			stored = append(stored, parquet.DoubleValue(v))
		case typ.Kind() == parquet.Float && float64(float32(v)) == v:
			stored = append(stored, parquet.FloatValue(float32(v)))
		}
	}
	return stored
}

// storedNumber is for whole numbers, decimals, dates and times.
func storedNumber(typ parquet.Type, literal protocol.Value) []parquet.Value {
	unit, scale := time.Nanosecond, 0
	switch logical := annotation(typ).(type) {
	case *format.TimeType:
		unit = unitOf(logical.Unit)
	case *format.TimestampType:
		unit = unitOf(logical.Unit)
	case *format.DecimalType:
		scale = int(logical.Scale)
	}
	if decimal, ok := literal.(protocol.Decimal); ok && typ.Kind() == parquet.FixedLenByteArray {
		return fixedDecimal(decimal, scale, typ.Length())
	}
	number, ok := protocol.StoredInteger(literal, unit, scale)
	switch {
	case ok && typ.Kind() == parquet.Int32:
		return []parquet.Value{parquet.Int32Value(int32(number))}
	case ok && typ.Kind() == parquet.Int64:
		return []parquet.Value{parquet.Int64Value(number)}
	}
	return nil
}

func fixedDecimal(decimal protocol.Decimal, scale, size int) []parquet.Value {
	unscaled, exact := decimal.At(scale)
	if !exact {
		return nil
	}
	stored, fits := protocol.ToBigEndian(unscaled, size)
	if !fits {
		return nil
	}
	return []parquet.Value{parquet.FixedLenByteArrayValue(stored)}
}
