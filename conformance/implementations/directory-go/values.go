package main

import (
	"encoding/binary"
	"math"
	"math/big"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

// annotationOf is the logical type of an element, or that which its converted type stands for.
func annotationOf(element format.SchemaElement) format.LogicalTypeValue {
	if element.LogicalType.Value != nil {
		return element.LogicalType.Value
	}
	converted, ok := element.ConvertedType.Get()
	if !ok {
		return nil
	}
	millis, micros := format.TimeUnit{Value: &format.MilliSeconds{}}, format.TimeUnit{Value: &format.MicroSeconds{}}
	switch converted {
	case deprecated.UTF8:
		return &format.StringType{}
	case deprecated.Enum:
		return &format.EnumType{}
	case deprecated.Json:
		return &format.JsonType{}
	case deprecated.Bson:
		return &format.BsonType{}
	case deprecated.Decimal:
		return &format.DecimalType{Scale: element.Scale.V, Precision: element.Precision.V}
	case deprecated.Date:
		return &format.DateType{}
	case deprecated.TimeMillis:
		return &format.TimeType{Unit: millis}
	case deprecated.TimeMicros:
		return &format.TimeType{Unit: micros}
	case deprecated.TimestampMillis:
		return &format.TimestampType{Unit: millis}
	case deprecated.TimestampMicros:
		return &format.TimestampType{Unit: micros}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{BitWidth: 8 << (converted - deprecated.Uint8)}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return &format.IntType{BitWidth: 8 << (converted - deprecated.Int8), IsSigned: true}
	}
	return nil
}

func (l leaf) isText() bool {
	switch l.annotation.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return l.element.Type.V == format.ByteArray
	}
	return false
}

// isDescribable says whether a column has one value a row, and a type for which Parquet defines an order.
func (l leaf) isDescribable() bool {
	if l.repeated || l.interval || l.element.Type.V == format.Int96 {
		return false
	}
	switch l.annotation.(type) {
	case *format.GeometryType, *format.GeographyType, *format.NullType, *format.VariantType:
		return false
	}
	return true
}

func (l leaf) isFloating() bool {
	_, isHalf := l.annotation.(*format.Float16Type)
	return isHalf || l.element.Type.V == format.Float || l.element.Type.V == format.Double
}

// isNumber says whether values are numbers, decimals or times.
func (l leaf) isNumber() bool {
	_, isDecimal := l.annotation.(*format.DecimalType)
	return isDecimal || l.isFloating() || l.element.Type.V == format.Int32 || l.element.Type.V == format.Int64
}

// sumKind is how the sums of a measure are written.
func (l leaf) sumKind() uint8 {
	switch l.annotation.(type) {
	case *format.DecimalType:
		return sumInteger
	case *format.DateType, *format.TimeType, *format.TimestampType:
		return sumNone
	}
	switch l.element.Type.V {
	case format.Int32, format.Int64:
		return sumInteger
	case format.Float, format.Double:
		return sumDouble
	}
	return sumNone
}

// writtenValues are count values in the PLAIN encoding of a column, in the form of the protocol; false if the bytes hold more
// or fewer, or a text that is not UTF-8, which has no such form.
func writtenValues(of leaf, plain []byte, count uint64) ([]any, bool) {
	values, ok := of.values(plain, count)
	if !ok {
		return nil, false
	}
	return writtenAll(values)
}

func writtenAll(values []protocol.Value) ([]any, bool) {
	all := make([]any, len(values))
	for i, value := range values {
		var err error
		if all[i], err = protocol.Write(value); err != nil {
			return nil, false
		}
	}
	return all, true
}

// values are count values in the PLAIN encoding of a column; false if the bytes hold more or fewer.
func (l leaf) values(plain []byte, count uint64) ([]protocol.Value, bool) {
	rest := &cursor{left: plain}
	if l.element.Type.V == format.Boolean {
		if uint64(len(plain)) != (count+7)/8 {
			return nil, false
		}
		if count%8 != 0 && plain[count/8]>>(count%8) != 0 { // behind the last one
			return nil, false
		}
		bits := make([]protocol.Value, count)
		for i := range bits {
			bits[i] = plain[i/8]>>(i%8)&1 == 1
		}
		return bits, true
	}
	if count > uint64(len(plain)) { // each takes a byte or more
		return nil, false
	}
	values := make([]protocol.Value, count)
	for i := range values {
		if values[i] = l.take(rest); rest.failed {
			return nil, false
		}
	}
	return values, len(rest.left) == 0
}

// take takes the next value of a column that does not hold booleans.
func (l leaf) take(rest *cursor) protocol.Value {
	switch l.element.Type.V {
	case format.Int32:
		number := rest.u32()
		return l.integer(int64(int32(number)), uint64(number))
	case format.Int64:
		number := rest.u64()
		return l.integer(int64(number), number)
	case format.Float:
		return float64(math.Float32frombits(rest.u32()))
	case format.Double:
		return math.Float64frombits(rest.u64())
	case format.ByteArray:
		return l.ofBytes(rest.bytes(uint64(rest.u32())))
	}
	return l.ofBytes(rest.bytes(uint64(max(l.element.TypeLength.V, 0))))
}

func (l leaf) integer(signed int64, unsigned uint64) protocol.Value {
	switch annotation := l.annotation.(type) {
	case *format.IntType:
		if !annotation.IsSigned {
			return unsigned
		}
	case *format.DateType:
		return protocol.Date(signed)
	case *format.TimeType:
		return protocol.TimeOf(signed, unitOf(annotation.Unit))
	case *format.TimestampType:
		return protocol.TimestampOf(signed, unitOf(annotation.Unit))
	case *format.DecimalType:
		return protocol.Decimal{Unscaled: big.NewInt(signed), Scale: int(annotation.Scale)}
	}
	return signed
}

func unitOf(unit format.TimeUnit) time.Duration {
	if unit.Value == nil { // a unit of a later version of Parquet
		return 1
	}
	return unit.Value.Duration()
}

func (l leaf) ofBytes(content []byte) protocol.Value {
	switch annotation := l.annotation.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return string(content)
	case *format.DecimalType:
		return protocol.Decimal{Unscaled: protocol.BigEndian(content), Scale: int(annotation.Scale)}
	case *format.Float16Type:
		if len(content) == 2 {
			return half(binary.LittleEndian.Uint16(content))
		}
	}
	return protocol.Bytes(content)
}

// half widens a floating point number of two bytes: a sign, five bits of exponent, ten of fraction.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	var magnitude float64
	switch {
	case exponent == 0:
		magnitude = math.Ldexp(fraction, -24)
	case exponent < 0x1f:
		magnitude = math.Ldexp(1024+fraction, exponent-25)
	case fraction == 0:
		magnitude = math.Inf(1)
	default:
		return math.NaN()
	}
	if bits>>15 == 1 {
		return math.Copysign(magnitude, -1)
	}
	return magnitude
}
