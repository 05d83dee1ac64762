package protocol

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Compare orders two values that are not null: negative if the first is less, 0 if they are equal, positive if it is
// greater. The second result is false if they have no order, which is so wherever one of them is NaN.
//
// Text is ordered by code point and bytes as unsigned numbers; numbers are ordered by value, so that both zeros are equal.
// Values of types that the protocol does not compare, such as lists, are an error.
func Compare(a, b Value) (order int, ordered bool, err error) {
	switch x := a.(type) {
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(truthValue(x), truthValue(y)), true, nil
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), true, nil
		}
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return bytes.Compare(x, y), true, nil
		}
	case Date:
		if y, ok := b.(Date); ok {
			return cmp.Compare(x, y), true, nil
		}
	case Time:
		if y, ok := b.(Time); ok {
			return x.Nanoseconds.Cmp(y.Nanoseconds), true, nil
		}
	case Timestamp:
		if y, ok := b.(Timestamp); ok {
			return x.Nanoseconds.Cmp(y.Nanoseconds), true, nil
		}
	default:
		return compareNumbers(a, b)
	}
	return 0, false, unlike(a, b)
}

func compareNumbers(a, b Value) (order int, ordered bool, err error) {
	if IsNaN(a) || IsNaN(b) {
		return 0, false, nil
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true, nil
		}
	}
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), true, nil
		}
	}
	x, y := exactly(a), exactly(b)
	if x == nil || y == nil {
		return compareInfinity(a, b)
	}
	return x.Cmp(y), true, nil
}

// compareInfinity compares numbers one of which, at least, is infinite.
func compareInfinity(a, b Value) (order int, ordered bool, err error) {
	x, isX := size(a)
	y, isY := size(b)
	if !isX || !isY {
		return 0, false, unlike(a, b)
	}
	return cmp.Compare(x, y), true, nil
}

// size is a number as a float, which need not be exact beside an infinite one.
func size(value Value) (float64, bool) {
	if float, ok := value.(float64); ok {
		return float, true
	}
	number := exactly(value)
	if number == nil {
		return 0, false
	}
	near, _ := number.Float64()
	return near, !math.IsNaN(near)
}

// exactly is a finite number without rounding, nil for anything else.
func exactly(value Value) *big.Rat {
	switch v := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case uint64:
		return new(big.Rat).SetUint64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	case Decimal:
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)
		return new(big.Rat).SetFrac(v.Unscaled, power)
	}
	return nil
}

// IsNaN says whether a value is a float that is not a number.
func IsNaN(value Value) bool {
	float, ok := value.(float64)
	return ok && math.IsNaN(float)
}

func truthValue(value bool) int {
	if value {
		return 1
	}
	return 0
}

func unlike(a, b Value) error {
	return fmt.Errorf("%w: comparison of %s with %s", ErrUnsupported, kind(a), kind(b))
}

func kind(value Value) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", value), "protocol."))
}
