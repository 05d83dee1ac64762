package protocol

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Value is what one column of one row holds:
//
//	nil         null
//	bool        BOOLEAN
//	int64       whole numbers
//	uint64      whole numbers, where the type is unsigned
//	float64     FLOAT, DOUBLE and FLOAT16, widened to 64 bits
//	string      text: STRING, ENUM, JSON
//	Bytes       every other BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
//	Decimal, Date, Time, Timestamp
//	List, Map, Struct
type Value any

// Bytes is a value of bytes that is not text.
type Bytes []byte

// Decimal is Unscaled divided by ten to the power of Scale.
type Decimal struct {
	Unscaled *big.Int
	Scale    int
}

// Date is a number of days since 1970-01-01.
type Date int64

// Time is a time of day: nanoseconds since midnight.
//
// It is a big number because a damaged file may hold one that does not fit 64 bits.
type Time struct{ Nanoseconds *big.Int }

// Timestamp is a number of nanoseconds since 1970-01-01.
//
// It is a big number because milliseconds of 64 bits reach further than nanoseconds of 64 bits.
type Timestamp struct{ Nanoseconds *big.Int }

// List is a list of values.
type List []Value

// Map holds the entries of a map in their order.
type Map []Entry

// Entry is a key of a map and its value.
type Entry struct{ Key, Value Value }

// Struct holds the members of a group in their order.
type Struct []Member

// Member is a named value of a group.
type Member struct {
	Name  string
	Value Value
}

// TimeOf is the time of day count units after midnight.
func TimeOf(count int64, unit time.Duration) Time {
	return Time{nanoseconds(count, unit)}
}

// TimestampOf is the point in time count units after the beginning of 1970.
func TimestampOf(count int64, unit time.Duration) Timestamp {
	return Timestamp{nanoseconds(count, unit)}
}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2_440_588

// Int96 is the timestamp of a value of type INT96: a Julian day and the nanoseconds of that day.
func Int96(day uint32, ofDay uint64) Timestamp {
	nanos := nanoseconds(int64(int32(day))-julianEpoch, 24*time.Hour)
	return Timestamp{nanos.Add(nanos, big.NewInt(int64(ofDay)))}
}

func nanoseconds(count int64, unit time.Duration) *big.Int {
	return new(big.Int).Mul(big.NewInt(count), big.NewInt(int64(unit)))
}

// BigEndian is the number that bytes hold in two's complement, the most significant byte first, as decimals are stored.
func BigEndian(stored []byte) *big.Int {
	number := new(big.Int).SetBytes(stored)
	if len(stored) > 0 && stored[0] >= 0x80 {
		number.Sub(number, new(big.Int).Lsh(big.NewInt(1), uint(8*len(stored))))
	}
	return number
}

// exact is the greatest whole number that every reader of JSON keeps.
const exact = 1 << 53

// Write is a value as it is written in JSON, or an error if it is text that is not UTF-8.
func Write(value Value) (any, error) {
	switch v := value.(type) {
	case nil, bool:
		return v, nil
	case int64:
		if v > exact || v < -exact {
			return map[string]string{"int": strconv.FormatInt(v, 10)}, nil
		}
		return v, nil
	case uint64:
		if v > exact {
			return map[string]string{"int": strconv.FormatUint(v, 10)}, nil
		}
		return v, nil
	case float64:
		return map[string]string{"float": writeFloat(v)}, nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("text is not UTF-8: %.40q", v)
		}
		return v, nil
	case Bytes:
		return map[string]string{"bytes": hex.EncodeToString(v)}, nil
	case Decimal:
		return map[string]string{"decimal": v.String()}, nil
	case Date:
		return map[string]string{"date": strconv.FormatInt(int64(v), 10)}, nil
	case Time:
		return map[string]string{"time": v.Nanoseconds.String()}, nil
	case Timestamp:
		return map[string]string{"timestamp": v.Nanoseconds.String()}, nil
	}
	return writeNested(value)
}

func writeNested(value Value) (any, error) {
	switch v := value.(type) {
	case List:
		list, err := writeAll(v)
		return map[string]any{"list": list}, err
	case Map:
		entries := make([]any, len(v))
		for i, entry := range v {
			pair, err := writeAll([]Value{entry.Key, entry.Value})
			if err != nil {
				return nil, err
			}
			entries[i] = pair
		}
		return map[string]any{"map": entries}, nil
	case Struct:
		members := make(map[string]any, len(v))
		for _, member := range v {
			written, err := Write(member.Value)
			if err != nil {
				return nil, err
			}
			members[member.Name] = written
		}
		return map[string]any{"struct": members}, nil
	}
	panic(fmt.Sprintf("the driver made a value of type %T, which the protocol does not have", value))
}

func writeAll(values []Value) ([]any, error) {
	written := make([]any, len(values))
	for i, value := range values {
		var err error
		if written[i], err = Write(value); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// writeFloat is the shortest decimal that reads back, in the form that is usual in the golden files: 1.0, 1e+16, -0.0.
func writeFloat(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	scientific := strconv.FormatFloat(v, 'e', -1, 64)
	_, exponent, _ := strings.Cut(scientific, "e")
	if power, err := strconv.Atoi(exponent); err != nil || power < -4 || power >= 16 {
		return scientific
	}
	plain := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}

// String writes a decimal with as many digits behind the point as its scale.
func (d Decimal) String() string {
	digits := new(big.Int).Abs(d.Unscaled).String()
	if d.Scale > 0 {
		if missing := d.Scale + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		digits = digits[:len(digits)-d.Scale] + "." + digits[len(digits)-d.Scale:]
	}
	if d.Unscaled.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// ReadValue is the value that a decoded piece of JSON (with numbers as [json.Number]) stands for.
func ReadValue(written any) (Value, error) {
	switch v := written.(type) {
	case nil, bool, string:
		return v, nil
	case json.Number:
		return readInteger(v.String())
	case map[string]any:
		for tag, content := range v {
			if len(v) == 1 {
				return readTagged(tag, content)
			}
		}
	}
	return nil, fmt.Errorf("%v is not a value of the protocol", written)
}

func readTagged(tag string, content any) (Value, error) {
	switch tag {
	case "list", "map", "struct":
		return readNested(tag, content)
	}
	text, ok := content.(string)
	if !ok {
		return nil, fmt.Errorf("the tag %q needs a text, not %v", tag, content)
	}
	switch tag {
	case "int":
		return readInteger(text)
	case "float":
		return strconv.ParseFloat(text, 64)
	case "bytes":
		content, err := hex.DecodeString(text)
		return Bytes(content), err
	case "decimal":
		return readDecimal(text)
	case "date":
		days, err := strconv.ParseInt(text, 10, 64)
		return Date(days), err
	case "time":
		nanos, err := readBig(text)
		return Time{nanos}, err
	case "timestamp":
		nanos, err := readBig(text)
		return Timestamp{nanos}, err
	}
	return nil, fmt.Errorf("the tag %q is not one of the protocol's", tag)
}

func readNested(tag string, content any) (Value, error) {
	switch v := content.(type) {
	case []any:
		if tag == "map" {
			return readMap(v)
		}
		list := make(List, len(v))
		for i, element := range v {
			var err error
			if list[i], err = ReadValue(element); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		members := make(Struct, 0, len(v))
		for name, written := range v {
			value, err := ReadValue(written)
			if err != nil {
				return nil, err
			}
			members = append(members, Member{name, value})
		}
		return members, nil
	}
	return nil, fmt.Errorf("the tag %q does not fit %v", tag, content)
}

func readMap(pairs []any) (Value, error) {
	entries := make(Map, len(pairs))
	for i, pair := range pairs {
		both, ok := pair.([]any)
		if !ok || len(both) != 2 {
			return nil, fmt.Errorf("an entry of a map is a key and a value, not %v", pair)
		}
		key, err := ReadValue(both[0])
		if err != nil {
			return nil, err
		}
		value, err := ReadValue(both[1])
		if err != nil {
			return nil, err
		}
		entries[i] = Entry{key, value}
	}
	return entries, nil
}

func readInteger(text string) (Value, error) {
	if signed, err := strconv.ParseInt(text, 10, 64); err == nil {
		return signed, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

func readBig(text string) (*big.Int, error) {
	number, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, fmt.Errorf("%q is not a whole number", text)
	}
	return number, nil
}

func readDecimal(text string) (Value, error) {
	whole, behind, _ := strings.Cut(text, ".")
	unscaled, err := readBig(whole + behind)
	return Decimal{unscaled, len(behind)}, err
}
