package conformance;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/** Values of Java's own classes, which many libraries hand out. */
public final class JavaValues {
    private static final BigInteger NANOSECONDS_OF_A_SECOND = BigInteger.valueOf(1_000_000_000);

    private JavaValues() {}

    /**
     * The value of an object; null is null.
     *
     * @throws UnsupportedException the protocol has no value for objects of this class
     */
    public static Value of(Object object) throws UnsupportedException {
        if (object == null) {
            return Value.NULL;
        } else if (object instanceof Boolean flag) {
            return new Value.Bool(flag);
        } else if (object instanceof Byte
                || object instanceof Short
                || object instanceof Integer
                || object instanceof Long) {
            return new Value.Whole(((Number) object).longValue());
        } else if (object instanceof BigInteger number) {
            return new Value.Whole(number);
        } else if (object instanceof Float || object instanceof Double) {
            return new Value.Real(((Number) object).doubleValue());
        } else if (object instanceof String text) {
            return new Value.Text(text);
        } else if (object instanceof byte[] bytes) {
            return new Value.Bytes(bytes);
        } else if (object instanceof BigDecimal number) {
            return new Value.Decimal(number);
        } else if (object instanceof UUID id) {
            ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES);
            bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
            return new Value.Bytes(bytes.array());
        }
        return ofTime(object);
    }

    private static Value ofTime(Object object) throws UnsupportedException {
        if (object instanceof LocalDate date) {
            return new Value.Date(date.toEpochDay());
        } else if (object instanceof LocalTime time) {
            return new Value.Time(BigInteger.valueOf(time.toNanoOfDay()));
        } else if (object instanceof LocalDateTime moment) {
            return ofTime(moment.toInstant(ZoneOffset.UTC));
        } else if (object instanceof Instant moment) {
            BigInteger seconds = BigInteger.valueOf(moment.getEpochSecond());
            return new Value.Timestamp(
                    seconds.multiply(NANOSECONDS_OF_A_SECOND).add(BigInteger.valueOf(moment.getNano())));
        }
        throw new UnsupportedException("values of the class " + object.getClass().getName());
    }

    /** A moment, given in nanoseconds since 1970. */
    public static Instant instant(Value.Timestamp moment) {
        BigInteger[] parts = moment.nanoseconds().divideAndRemainder(NANOSECONDS_OF_A_SECOND);
        return Instant.ofEpochSecond(parts[0].longValueExact()).plus(parts[1].longValueExact(), ChronoUnit.NANOS);
    }

    /** A UUID, given as its 16 bytes. */
    public static UUID uuid(Value.Bytes bytes) {
        ByteBuffer parts = ByteBuffer.wrap(bytes.value());
        return new UUID(parts.getLong(), parts.getLong());
    }
}
