package parquetjava;

import conformance.Request;
import conformance.UnsupportedException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.parquet.schema.ConversionPatterns;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntervalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;

/**
 * The schema of rows to write, whose types are words such as {@code int32}, {@code decimal(9,2)}, {@code
 * list<string>}.
 */
final class WrittenTypes {
    private static final Pattern WITH_NUMBERS = Pattern.compile("(\\w+)\\((\\d+)(?:,\\s*(\\d+))?\\)");
    private static final Pattern NESTED = Pattern.compile("(list|map|struct)<(.*)>");
    private static final int DIGITS_OF_INT32 = 9;
    private static final int DIGITS_OF_INT64 = 18;
    private static final int BYTES_OF_A_HALF_FLOAT = 2;
    private static final int BYTES_OF_AN_INTERVAL = 12;
    private static final int BYTES_OF_A_UUID = 16;

    private WrittenTypes() {}

    /** A schema with these columns. */
    static MessageType schema(List<Request.Column> columns) throws UnsupportedException {
        List<Type> types = new ArrayList<>();
        for (Request.Column column : columns) {
            types.add(type(column.type(), repetition(column.nullable()), column.name()));
        }
        return new MessageType("schema", types);
    }

    private static Repetition repetition(boolean nullable) {
        return nullable ? Repetition.OPTIONAL : Repetition.REQUIRED;
    }

    private static Type type(String words, Repetition repetition, String name) throws UnsupportedException {
        Matcher nested = NESTED.matcher(words);
        if (!nested.matches()) {
            return primitive(words, repetition, name);
        }
        List<String> inner = parts(nested.group(2));
        return switch (nested.group(1)) {
            case "list" -> ConversionPatterns.listOfElements(
                    repetition, name, type(inner.get(0), Repetition.OPTIONAL, "element"));
            case "map" -> ConversionPatterns.mapType(
                    repetition,
                    name,
                    type(inner.get(0), Repetition.REQUIRED, "key"),
                    type(inner.get(1), Repetition.OPTIONAL, "value"));
            default -> struct(inner, repetition, name);
        };
    }

    private static Type struct(List<String> members, Repetition repetition, String name) throws UnsupportedException {
        Types.GroupBuilder<?> group = Types.buildGroup(repetition);
        for (String member : members) {
            String[] nameAndType = member.split(": ", 2);
            group.addField(type(nameAndType[1], Repetition.OPTIONAL, nameAndType[0]));
        }
        return (Type) group.named(name);
    }

    /** The parts between the commas that are not inside of brackets. */
    private static List<String> parts(String words) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int begin = 0;
        for (int at = 0; at < words.length(); at++) {
            char sign = words.charAt(at);
            depth += sign == '<' || sign == '(' ? 1 : sign == '>' || sign == ')' ? -1 : 0;
            if (sign == ',' && depth == 0) {
                parts.add(words.substring(begin, at).strip());
                begin = at + 1;
            }
        }
        parts.add(words.substring(begin).strip());
        return parts;
    }

    private static Type primitive(String word, Repetition repetition, String name) throws UnsupportedException {
        Matcher numbers = WITH_NUMBERS.matcher(word);
        if (numbers.matches()) {
            return withNumbers(numbers, repetition, name);
        }
        return switch (word) {
            case "boolean" -> plain(PrimitiveTypeName.BOOLEAN, repetition, name);
            case "int32" -> plain(PrimitiveTypeName.INT32, repetition, name);
            case "int64" -> plain(PrimitiveTypeName.INT64, repetition, name);
            case "int96" -> plain(PrimitiveTypeName.INT96, repetition, name);
            case "float" -> plain(PrimitiveTypeName.FLOAT, repetition, name);
            case "double" -> plain(PrimitiveTypeName.DOUBLE, repetition, name);
            case "binary" -> plain(PrimitiveTypeName.BINARY, repetition, name);
            case "float16" -> fixed(BYTES_OF_A_HALF_FLOAT, LogicalTypeAnnotation.float16Type(), repetition, name);
            case "interval" -> fixed(
                    BYTES_OF_AN_INTERVAL, IntervalLogicalTypeAnnotation.getInstance(), repetition, name);
            case "uuid" -> fixed(BYTES_OF_A_UUID, LogicalTypeAnnotation.uuidType(), repetition, name);
            default -> annotated(word, repetition, name);
        };
    }

    private static Type annotated(String word, Repetition repetition, String name) throws UnsupportedException {
        LogicalTypeAnnotation annotation = annotation(word);
        PrimitiveTypeName stored =
                switch (word) {
                    case "string", "enum", "json", "bson", "geometry", "geography" -> PrimitiveTypeName.BINARY;
                    case "uint64", "time_micros", "time_nanos" -> PrimitiveTypeName.INT64;
                    case "timestamp_millis", "timestamp_micros", "timestamp_nanos" -> PrimitiveTypeName.INT64;
                    default -> PrimitiveTypeName.INT32;
                };
        return Types.primitive(stored, repetition).as(annotation).named(name);
    }

    private static LogicalTypeAnnotation annotation(String word) throws UnsupportedException {
        return switch (word) {
            case "int8" -> LogicalTypeAnnotation.intType(8, true);
            case "int16" -> LogicalTypeAnnotation.intType(16, true);
            case "uint8" -> LogicalTypeAnnotation.intType(8, false);
            case "uint16" -> LogicalTypeAnnotation.intType(16, false);
            case "uint32" -> LogicalTypeAnnotation.intType(32, false);
            case "uint64" -> LogicalTypeAnnotation.intType(64, false);
            case "date" -> LogicalTypeAnnotation.dateType();
            case "time_millis" -> LogicalTypeAnnotation.timeType(true, TimeUnit.MILLIS);
            case "time_micros" -> LogicalTypeAnnotation.timeType(true, TimeUnit.MICROS);
            case "time_nanos" -> LogicalTypeAnnotation.timeType(true, TimeUnit.NANOS);
            case "timestamp_millis" -> LogicalTypeAnnotation.timestampType(true, TimeUnit.MILLIS);
            case "timestamp_micros" -> LogicalTypeAnnotation.timestampType(true, TimeUnit.MICROS);
            case "timestamp_nanos" -> LogicalTypeAnnotation.timestampType(true, TimeUnit.NANOS);
            case "string" -> LogicalTypeAnnotation.stringType();
            case "enum" -> LogicalTypeAnnotation.enumType();
            case "json" -> LogicalTypeAnnotation.jsonType();
            case "bson" -> LogicalTypeAnnotation.bsonType();
            case "geometry" -> LogicalTypeAnnotation.geometryType(null);
            case "geography" -> LogicalTypeAnnotation.geographyType();
            case "unknown" -> LogicalTypeAnnotation.unknownType();
            default -> throw new UnsupportedException("type " + word);
        };
    }

    private static Type withNumbers(Matcher words, Repetition repetition, String name) throws UnsupportedException {
        int first = Integer.parseInt(words.group(2));
        if (words.group(1).equals("fixed")) {
            return Types.primitive(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, repetition)
                    .length(first)
                    .named(name);
        } else if (words.group(1).equals("decimal") && words.group(3) != null) {
            return decimal(first, Integer.parseInt(words.group(3)), repetition, name);
        }
        throw new UnsupportedException("type " + words.group());
    }

    private static Type decimal(int precision, int scale, Repetition repetition, String name) {
        LogicalTypeAnnotation annotation = LogicalTypeAnnotation.decimalType(scale, precision);
        if (precision <= DIGITS_OF_INT64) {
            PrimitiveTypeName stored = precision <= DIGITS_OF_INT32 ? PrimitiveTypeName.INT32 : PrimitiveTypeName.INT64;
            return Types.primitive(stored, repetition).as(annotation).named(name);
        }
        int bits = BigInteger.TEN.pow(precision).bitLength() + 1;
        return fixed((bits + Byte.SIZE - 1) / Byte.SIZE, annotation, repetition, name);
    }

    private static Type plain(PrimitiveTypeName stored, Repetition repetition, String name) {
        return Types.primitive(stored, repetition).named(name);
    }

    private static Type fixed(int length, LogicalTypeAnnotation annotation, Repetition repetition, String name) {
        return Types.primitive(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, repetition)
                .length(length)
                .as(annotation)
                .named(name);
    }
}
