package main

import (
	"bytes"
	"fmt"
	"math/big"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

// annotation is the logical type of a type, which the library knows of converted types as well; nil if there is none, or one
// with a unit of a later version.
func annotation(typ parquet.Type) format.LogicalTypeValue {
	logical := typ.LogicalType()
	if logical == nil {
		return nil
	}
	switch value := logical.Value.(type) {
	case *format.TimeType:
		if value.Unit.Value == nil {
			return nil
		}
	case *format.TimestampType:
		if value.Unit.Value == nil {
			return nil
		}
	}
	return logical.Value
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
