package main

import (
	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
)

var leafNodes = map[string]parquet.Node{
	"boolean":          parquet.Leaf(parquet.BooleanType),
	"int8":             parquet.Int(8),
	"int16":            parquet.Int(16),
	"int32":            parquet.Leaf(parquet.Int32Type),
	"int64":            parquet.Leaf(parquet.Int64Type),
	"uint8":            parquet.Uint(8),
	"uint16":           parquet.Uint(16),
	"uint32":           parquet.Uint(32),
	"uint64":           parquet.Uint(64),
	"float":            parquet.Leaf(parquet.FloatType),
	"double":           parquet.Leaf(parquet.DoubleType),
	"string":           parquet.String(),
	"enum":             parquet.Enum(),
	"json":             parquet.JSON(),
	"bson":             parquet.BSON(),
	"binary":           parquet.Leaf(parquet.ByteArrayType),
	"uuid":             parquet.UUID(),
	"date":             parquet.Date(),
	"time_millis":      parquet.Time(parquet.Millisecond),
	"time_micros":      parquet.Time(parquet.Microsecond),
	"time_nanos":       parquet.Time(parquet.Nanosecond),
	"timestamp_millis": parquet.Timestamp(parquet.Millisecond), // these are in UTC
	"timestamp_micros": parquet.Timestamp(parquet.Microsecond),
	"timestamp_nanos":  parquet.Timestamp(parquet.Nanosecond),
}

// columnNode is the part of a schema for a type of the protocol.
func columnNode(asked protocol.Type, nullable bool, wishes protocol.Wishes) (parquet.Node, error) {
	node, err := requiredNode(asked, wishes)
	if err != nil || !nullable {
		return node, err
	}
	return parquet.Optional(node), nil
}

func requiredNode(asked protocol.Type, wishes protocol.Wishes) (parquet.Node, error) {
	if len(asked.Parts) == 0 {
		return leafNode(asked, wishes)
	}
	parts := make([]parquet.Node, len(asked.Parts))
	for i, part := range asked.Parts {
		isKey := asked.Name == "map" && i == 0
		var err error
		if parts[i], err = columnNode(part.Type, !isKey, wishes); err != nil {
			return nil, err
		}
	}
	switch {
	case asked.Name == "list" && len(parts) == 1:
		return parquet.List(parts[0]), nil
	case asked.Name == "map" && len(parts) == 2:
		return parquet.Map(parts[0], parts[1]), nil
	case asked.Name == "struct":
		group := parquet.Group{}
		for i, part := range asked.Parts {
			group[part.Name] = parts[i]
		}
		return group, nil
	}
	return nil, protocol.Unsupported("type " + asked.Name)
}

func leafNode(asked protocol.Type, wishes protocol.Wishes) (parquet.Node, error) {
	node, ok := leafNodes[asked.Name]
	switch {
	case asked.Name == "decimal" && len(asked.Numbers) == 2:
		node = decimalNode(asked.Numbers[0], asked.Numbers[1])
	case asked.Name == "fixed" && len(asked.Numbers) == 1:
		node = parquet.Leaf(parquet.FixedLenByteArrayType(asked.Numbers[0]))
	case !ok:
		return nil, protocol.Unsupported("type " + asked.Name)
	}
	if wishes.Dictionary == nil || node.Type().Kind() == parquet.Boolean { // which has no dictionary
		return node, nil
	}
	if *wishes.Dictionary {
		return parquet.Encoded(node, &parquet.RLEDictionary), nil
	}
	return parquet.Encoded(node, &parquet.Plain), nil
}

// Decimals of up to this number of digits fit the integer types of Parquet; the others are stored as 16 bytes, which hold 38.
const (
	digitsOfInt32 = 9
	digitsOfInt64 = 18
	sizeOfDecimal = 16
)

func decimalNode(precision, scale int) parquet.Node {
	switch {
	case precision <= digitsOfInt32:
		return parquet.Decimal(scale, precision, parquet.Int32Type)
	case precision <= digitsOfInt64:
		return parquet.Decimal(scale, precision, parquet.Int64Type)
	}
	return parquet.Decimal(scale, precision, parquet.FixedLenByteArrayType(sizeOfDecimal))
}
