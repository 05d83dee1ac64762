package parquetjava;

import conformance.UnsupportedException;
import conformance.Value;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import org.apache.parquet.example.data.simple.NanoTime;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/**
 * A value as a column stores it, which is how parquet-java takes the values of predicates, of bloom filters and of
 * rows to write: a {@code Boolean}, {@code Integer}, {@code Long}, {@code Float}, {@code Double} or {@link Binary}.
 * The inverse of {@link GroupValues}.
 */
final class StoredValue {
    private static final BigInteger NANOSECONDS_OF_A_DAY = BigInteger.valueOf(86_400_000_000_000L);
    private static final long JULIAN_DAY_OF_1970 = 2_440_588;

    private StoredValue() {}

    /**
     * A value as a column of this type stores it.
     *
     * @throws UnsupportedException it is not one of the values that the column can hold: the library has no
     * predicates about those
     */
    static Object of(Value value, PrimitiveType type) throws UnsupportedException {
        LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
        try {
            switch (type.getPrimitiveTypeName()) {
                case BOOLEAN:
                    return ((Value.Bool) value).value();
                case INT32:
                    return isUnsigned(annotation)
                            ? unsigned(value, Integer.SIZE).intValue()
                            : whole(value, annotation).intValueExact();
                case INT64:
                    return isUnsigned(annotation)
                            ? unsigned(value, Long.SIZE).longValue()
                            : whole(value, annotation).longValueExact();
                case FLOAT:
                    return exactFloat(real(value));
                case DOUBLE:
                    return real(value);
                case INT96:
                    return int96((Value.Timestamp) value);
                default:
                    return binary(value, type);
            }
        } catch (ArithmeticException | ClassCastException other) {
            throw new UnsupportedException(value.json() + " is not a value of the column's type " + type);
        }
    }

    private static boolean isUnsigned(LogicalTypeAnnotation annotation) {
        return annotation instanceof IntLogicalTypeAnnotation integer && !integer.isSigned();
    }

    private static BigInteger unsigned(Value value, int width) {
        BigInteger number = ((Value.Whole) value).value();
        if (number.signum() < 0 || number.bitLength() > width) {
            throw new ArithmeticException();
        }
        return number;
    }

    private static BigInteger whole(Value value, LogicalTypeAnnotation annotation) {
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            return unscaled((Value.Decimal) value, decimal);
        } else if (value instanceof Value.Date date) {
            return BigInteger.valueOf(date.days());
        } else if (annotation instanceof TimeLogicalTypeAnnotation time) {
            return inUnit(((Value.Time) value).nanoseconds(), time.getUnit());
        } else if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
            return inUnit(((Value.Timestamp) value).nanoseconds(), timestamp.getUnit());
        }
        return ((Value.Whole) value).value();
    }

    private static BigInteger unscaled(Value.Decimal value, DecimalLogicalTypeAnnotation type) {
        return value.value().setScale(type.getScale()).unscaledValue();
    }

    private static BigInteger inUnit(BigInteger nanoseconds, TimeUnit unit) {
        return new BigDecimal(nanoseconds)
                .divide(new BigDecimal(GroupValues.nanoseconds(unit)))
                .toBigIntegerExact();
    }

    private static double real(Value value) {
        return value instanceof Value.Whole whole
                ? whole.value().doubleValue()
                : ((Value.Real) value).value();
    }

    private static float exactFloat(double value) {
        float narrowed = (float) value;
        if (Double.compare(narrowed, value) != 0) {
            throw new ArithmeticException();
        }
        return narrowed;
    }

    private static Binary int96(Value.Timestamp value) {
        BigInteger[] day = value.nanoseconds().divideAndRemainder(NANOSECONDS_OF_A_DAY);
        boolean before = day[1].signum() < 0;
        long ofTheDay = day[1].add(before ? NANOSECONDS_OF_A_DAY : BigInteger.ZERO).longValueExact();
        long julianDay = day[0].longValueExact() + JULIAN_DAY_OF_1970 - (before ? 1 : 0);
        return new NanoTime(Math.toIntExact(julianDay), ofTheDay).toBinary();
    }

    private static Binary binary(Value value, PrimitiveType type) {
        LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            byte[] digits = unscaled((Value.Decimal) value, decimal).toByteArray();
            boolean fixed = type.getPrimitiveTypeName() == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY;
            return Binary.fromConstantByteArray(fixed ? extended(digits, type.getTypeLength()) : digits);
        } else if (annotation instanceof Float16LogicalTypeAnnotation) {
            short bits = HalfFloat.bits(real(value));
            return Binary.fromConstantByteArray(new byte[] {(byte) bits, (byte) (bits >> Byte.SIZE)});
        } else if (value instanceof Value.Text text) {
            return Binary.fromString(text.value());
        }
        return Binary.fromConstantByteArray(((Value.Bytes) value).value());
    }

    /** A number in two's complement, most significant byte first, made longer with its sign. */
    private static byte[] extended(byte[] number, int length) {
        if (number.length > length) {
            throw new ArithmeticException();
        }
        byte[] longer = new byte[length];
        Arrays.fill(longer, (byte) (number[0] < 0 ? -1 : 0));
        System.arraycopy(number, 0, longer, length - number.length, number.length);
        return longer;
    }
}
