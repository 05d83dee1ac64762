package protocol

import (
	"math/big"
	"time"
)

// StoredInteger is the number that a literal is in a column of whole numbers that count a unit (of time) or that are decimals
// of a scale. It is false if the column cannot hold the literal.
//
// Unsigned numbers beyond those with a sign come as the negative number with the same bits.
func StoredInteger(literal Value, unit time.Duration, scale int) (int64, bool) {
	switch v := literal.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), true
	case Date:
		return int64(v), true
	case Time:
		return wholeUnits(v.Nanoseconds, unit)
	case Timestamp:
		return wholeUnits(v.Nanoseconds, unit)
	case Decimal:
		unscaled, ok := v.At(scale)
		return unscaled.Int64(), ok && unscaled.IsInt64()
	}
	return 0, false
}

func wholeUnits(nanoseconds *big.Int, unit time.Duration) (int64, bool) {
	count, rest := new(big.Int).QuoRem(nanoseconds, big.NewInt(int64(unit)), new(big.Int))
	return count.Int64(), rest.Sign() == 0 && count.IsInt64()
}

// At is the unscaled number of a decimal at another scale, and false if it has digits beyond that scale.
func (d Decimal) At(scale int) (*big.Int, bool) {
	if scale >= d.Scale {
		return new(big.Int).Mul(d.Unscaled, power(scale-d.Scale)), true
	}
	count, rest := new(big.Int).QuoRem(d.Unscaled, power(d.Scale-scale), new(big.Int))
	return count, rest.Sign() == 0
}

func power(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// ToBigEndian is a number in two's complement of a width in bytes, the most significant first, and false if it needs more.
func ToBigEndian(number *big.Int, size int) ([]byte, bool) {
	limit := new(big.Int).Lsh(big.NewInt(1), uint(8*size-1))
	if number.Cmp(limit) >= 0 || number.Cmp(new(big.Int).Neg(limit)) < 0 {
		return nil, false
	}
	positive := number
	if number.Sign() < 0 {
		positive = new(big.Int).Add(number, new(big.Int).Lsh(limit, 1))
	}
	return positive.FillBytes(make([]byte, size)), true
}
