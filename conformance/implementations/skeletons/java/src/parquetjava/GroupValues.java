package parquetjava;

import conformance.Value;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/**
 * The values of parquet-java's records.
 *
 * <p>A {@link Group} holds what is stored: primitive values, and the groups around them. What annotations make of that
 * (decimals, times, text, lists and maps) is made here.
 */
public final class GroupValues {
    private static final BigInteger NANOSECONDS_OF_A_DAY = BigInteger.valueOf(86_400_000_000_000L);
    private static final long JULIAN_DAY_OF_1970 = 2_440_588;

    private GroupValues() {}

    /** The value of a field: null, its only value, or a list of all of them if the field is repeated. */
    public static Value value(Group group, int field) throws IOException {
        Type type = group.getType().getType(field);
        int count = group.getFieldRepetitionCount(field);
        if (type.isRepetition(Type.Repetition.REPEATED)) {
            List<Value> values = new ArrayList<>();
            for (int index = 0; index < count; index++) {
                values.add(single(group, field, index));
            }
            return new Value.Elements(values);
        }
        return count == 0 ? Value.NULL : single(group, field, 0);
    }

    private static Value single(Group group, int field, int index) throws IOException {
        Type type = group.getType().getType(field);
        if (type.isPrimitive()) {
            return primitive(group, field, index, type.asPrimitiveType());
        }
        Group inner = group.getGroup(field, index);
        LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
        boolean aroundRepeated = inner.getType().getFieldCount() == 1
                && inner.getType().getType(0).isRepetition(Type.Repetition.REPEATED);
        if (aroundRepeated && annotation instanceof ListLogicalTypeAnnotation) {
            return list(inner);
        } else if (aroundRepeated && isMap(annotation)) {
            return map(inner);
        }
        return struct(inner);
    }

    private static boolean isMap(LogicalTypeAnnotation annotation) {
        return annotation instanceof MapLogicalTypeAnnotation || annotation instanceof MapKeyValueTypeAnnotation;
    }

    private static Value list(Group list) throws IOException {
        boolean elementIsInside = elementIsInside(list.getType());
        List<Value> values = new ArrayList<>();
        for (int index = 0; index < list.getFieldRepetitionCount(0); index++) {
            values.add(elementIsInside ? value(list.getGroup(0, index), 0) : single(list, 0, index));
        }
        return new Value.Elements(values);
    }

    /**
     * Whether the repeated field only wraps the element: the rules for lists of older writers, from
     * LogicalTypes.md.
     */
    private static boolean elementIsInside(GroupType list) {
        Type repeated = list.getType(0);
        if (repeated.isPrimitive() || repeated.asGroupType().getFieldCount() != 1) {
            return false;
        }
        return !repeated.asGroupType().getType(0).isRepetition(Type.Repetition.REPEATED)
                && !repeated.getName().equals("array")
                && !repeated.getName().equals(list.getName() + "_tuple");
    }

    private static Value map(Group map) throws IOException {
        List<Map.Entry<Value, Value>> entries = new ArrayList<>();
        for (int index = 0; index < map.getFieldRepetitionCount(0); index++) {
            Group entry = map.getGroup(0, index);
            boolean withValue = entry.getType().getFieldCount() > 1;
            entries.add(Map.entry(value(entry, 0), withValue ? value(entry, 1) : Value.NULL));
        }
        return new Value.Entries(entries);
    }

    private static Value struct(Group group) throws IOException {
        Map<String, Value> members = new LinkedHashMap<>();
        for (int field = 0; field < group.getType().getFieldCount(); field++) {
            members.put(group.getType().getFieldName(field), value(group, field));
        }
        return new Value.Struct(members);
    }

    private static Value primitive(Group group, int field, int index, PrimitiveType type)
            throws IOException {
        LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
        if (annotation instanceof UnknownLogicalTypeAnnotation) {
            return Value.NULL;
        }
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> new Value.Bool(group.getBoolean(field, index));
            case INT32 -> whole(group.getInteger(field, index), annotation, Integer.SIZE);
            case INT64 -> whole(group.getLong(field, index), annotation, Long.SIZE);
            case FLOAT -> real(group.getFloat(field, index));
            case DOUBLE -> new Value.Real(group.getDouble(field, index));
            case INT96 -> timestamp(group.getInt96(field, index));
            case BINARY, FIXED_LEN_BYTE_ARRAY -> binary(group.getBinary(field, index), annotation);
        };
    }

    private static Value whole(long stored, LogicalTypeAnnotation annotation, int width) {
        BigInteger number = BigInteger.valueOf(stored);
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            return new Value.Decimal(new BigDecimal(number, decimal.getScale()));
        } else if (annotation instanceof DateLogicalTypeAnnotation) {
            return new Value.Date(stored);
        } else if (annotation instanceof TimeLogicalTypeAnnotation time) {
            return new Value.Time(number.multiply(nanoseconds(time.getUnit())));
        } else if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
            return new Value.Timestamp(number.multiply(nanoseconds(timestamp.getUnit())));
        } else if (annotation instanceof IntLogicalTypeAnnotation integer && !integer.isSigned()) {
            return Value.Whole.unsigned(stored, width);
        }
        return new Value.Whole(number);
    }

    private static Value binary(Binary stored, LogicalTypeAnnotation annotation) throws IOException {
        if (annotation instanceof StringLogicalTypeAnnotation
                || annotation instanceof EnumLogicalTypeAnnotation
                || annotation instanceof JsonLogicalTypeAnnotation) {
            // Binary.toStringUsingUTF8 puts replacement characters where bytes are not UTF-8; other text is wrong.
            return new Value.Text(
                    StandardCharsets.UTF_8.newDecoder().decode(stored.toByteBuffer()).toString());
        } else if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            if (stored.length() == 0) {
                throw new IOException("a decimal without bytes");
            }
            return new Value.Decimal(new BigDecimal(new BigInteger(stored.getBytes()), decimal.getScale()));
        } else if (annotation instanceof Float16LogicalTypeAnnotation) {
            return real(HalfFloat.widened(stored.get2BytesLittleEndian()));
        }
        return new Value.Bytes(stored.getBytes());
    }

    private static Value real(float stored) {
        return new Value.Real(stored);
    }

    private static Value timestamp(Binary int96) {
        ByteBuffer bytes = int96.toByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        BigInteger ofTheDay = BigInteger.valueOf(bytes.getLong());
        BigInteger day = BigInteger.valueOf(bytes.getInt() - JULIAN_DAY_OF_1970);
        return new Value.Timestamp(day.multiply(NANOSECONDS_OF_A_DAY).add(ofTheDay));
    }

    /** How many nanoseconds a unit has. */
    public static BigInteger nanoseconds(TimeUnit unit) {
        return BigInteger.valueOf(switch (unit) {
            case MILLIS -> 1_000_000;
            case MICROS -> 1_000;
            case NANOS -> 1;
        });
    }
}
