package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A value of a row, and its form in JSON: what {@code PROTOCOL.md} says under "Values".
 *
 * <p>{@link #json} and {@link #of} are inverse to each other. Lists, maps and structs have no order, and no
 * predicate names one.
 */
public sealed interface Value {

    /** Null. */
    Value NULL = new Null();

    /** The value as the protocol writes it. */
    JsonNode json();

    /** Null, or a member that is absent in a list. */
    record Null() implements Value {
        @Override
        public JsonNode json() {
            return JsonNodeFactory.instance.nullNode();
        }
    }

    /** True or false. */
    record Bool(boolean value) implements Value {
        @Override
        public JsonNode json() {
            return JsonNodeFactory.instance.booleanNode(value);
        }
    }

    /** Text. */
    record Text(String value) implements Value {
        @Override
        public JsonNode json() {
            return JsonNodeFactory.instance.textNode(value);
        }
    }

    /** A whole number of any size and sign. */
    record Whole(BigInteger value) implements Value {
        private static final BigInteger EXACT_IN_EVERY_READER_OF_JSON = BigInteger.ONE.shiftLeft(53);

        public Whole(long value) {
            this(BigInteger.valueOf(value));
        }

        /** The number that these bits mean without a sign, in a width of bits. */
        public static Whole unsigned(long stored, int bits) {
            return new Whole(BigInteger.valueOf(stored).mod(BigInteger.ONE.shiftLeft(bits)));
        }

        @Override
        public JsonNode json() {
            return value.abs().compareTo(EXACT_IN_EVERY_READER_OF_JSON) > 0
                    ? tagged("int", value.toString())
                    : JsonNodeFactory.instance.numberNode(value.longValue());
        }
    }

    /** A float of 16, 32 or 64 bits, widened to 64. */
    record Real(double value) implements Value {
        @Override
        public JsonNode json() {
            String text = Double.isNaN(value)
                    ? "nan"
                    : Double.isInfinite(value) ? (value > 0 ? "inf" : "-inf") : Double.toString(value);
            return tagged("float", text);
        }

        private static Real of(String text) {
            return new Real(switch (text) {
                case "nan" -> Double.NaN;
                case "inf" -> Double.POSITIVE_INFINITY;
                case "-inf" -> Double.NEGATIVE_INFINITY;
                default -> Double.parseDouble(text);
            });
        }
    }

    /** Bytes. */
    record Bytes(byte[] value) implements Value {
        @Override
        public JsonNode json() {
            return tagged("bytes", HexFormat.of().formatHex(value));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bytes that && Arrays.equals(value, that.value);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(value);
        }
    }

    /** A decimal with as many digits behind the point as its scale. */
    record Decimal(BigDecimal value) implements Value {
        @Override
        public JsonNode json() {
            return tagged("decimal", value.toPlainString());
        }
    }

    /** Days since 1970-01-01. */
    record Date(long days) implements Value {
        @Override
        public JsonNode json() {
            return tagged("date", Long.toString(days));
        }
    }

    /** Nanoseconds since midnight. */
    record Time(BigInteger nanoseconds) implements Value {
        @Override
        public JsonNode json() {
            return tagged("time", nanoseconds.toString());
        }
    }

    /** Nanoseconds since 1970-01-01, which 64 bits do not hold for every timestamp in microseconds. */
    record Timestamp(BigInteger nanoseconds) implements Value {
        @Override
        public JsonNode json() {
            return tagged("timestamp", nanoseconds.toString());
        }
    }

    /** The elements of a list. */
    record Elements(List<Value> values) implements Value {
        @Override
        public JsonNode json() {
            ObjectNode node = JsonNodeFactory.instance.objectNode();
            ArrayNode elements = node.putArray("list");
            values.forEach(value -> elements.add(value.json()));
            return node;
        }
    }

    /** The entries of a map, in their order; keys may occur twice. */
    record Entries(List<Map.Entry<Value, Value>> values) implements Value {
        @Override
        public JsonNode json() {
            ObjectNode node = JsonNodeFactory.instance.objectNode();
            ArrayNode entries = node.putArray("map");
            values.forEach(
                    entry -> entries.addArray().add(entry.getKey().json()).add(entry.getValue().json()));
            return node;
        }
    }

    /** The members of a group by their names. */
    record Struct(Map<String, Value> members) implements Value {
        @Override
        public JsonNode json() {
            ObjectNode node = JsonNodeFactory.instance.objectNode();
            ObjectNode struct = node.putObject("struct");
            members.forEach((name, value) -> struct.set(name, value.json()));
            return node;
        }
    }

    /**
     * Reads a value of a request: a literal of a predicate, a probe, or a value of rows to write.
     *
     * @throws IllegalArgumentException the protocol has no such value
     */
    static Value of(JsonNode node) {
        if (node.isNull()) {
            return NULL;
        } else if (node.isBoolean()) {
            return new Bool(node.booleanValue());
        } else if (node.isTextual()) {
            return new Text(node.textValue());
        } else if (node.isIntegralNumber()) {
            return new Whole(node.bigIntegerValue());
        } else if (!node.isObject() || node.size() != 1) {
            throw new IllegalArgumentException(node + " is not a value");
        }
        Map.Entry<String, JsonNode> member = node.properties().iterator().next();
        JsonNode content = member.getValue();
        return switch (member.getKey()) {
            case "int" -> new Whole(new BigInteger(content.textValue()));
            case "float" -> Real.of(content.textValue());
            case "bytes" -> new Bytes(HexFormat.of().parseHex(content.textValue()));
            case "decimal" -> new Decimal(new BigDecimal(content.textValue()));
            case "date" -> new Date(Long.parseLong(content.textValue()));
            case "time" -> new Time(new BigInteger(content.textValue()));
            case "timestamp" -> new Timestamp(new BigInteger(content.textValue()));
            case "list" -> elements(content);
            case "map" -> entries(content);
            case "struct" -> struct(content);
            default -> throw new IllegalArgumentException(node + " is not a value");
        };
    }

    /**
     * How two values of one kind compare: negative, zero or positive; empty if they do not, because one of them is NaN.
     *
     * <p>Text is compared by code points, bytes without sign, floats in the given order.
     *
     * @throws IllegalArgumentException the values are of different kinds, or of one that has no order
     */
    static Optional<Integer> compared(Value left, Value right, Order order) {
        if (left instanceof Real || right instanceof Real) {
            return order.compared(left.real(right), right.real(left));
        } else if (left instanceof Bool one && right instanceof Bool other) {
            return Optional.of(Boolean.compare(one.value, other.value));
        } else if (left instanceof Text one && right instanceof Text other) {
            return Optional.of(Arrays.compare(
                    one.value.codePoints().toArray(), other.value.codePoints().toArray()));
        } else if (left instanceof Whole one && right instanceof Whole other) {
            return Optional.of(one.value.compareTo(other.value));
        } else if (left instanceof Bytes one && right instanceof Bytes other) {
            return Optional.of(Arrays.compareUnsigned(one.value, other.value));
        } else if (left instanceof Decimal one && right instanceof Decimal other) {
            return Optional.of(one.value.compareTo(other.value));
        } else if (left instanceof Date one && right instanceof Date other) {
            return Optional.of(Long.compare(one.days, other.days));
        } else if (left instanceof Time one && right instanceof Time other) {
            return Optional.of(one.nanoseconds.compareTo(other.nanoseconds));
        } else if (left instanceof Timestamp one && right instanceof Timestamp other) {
            return Optional.of(one.nanoseconds.compareTo(other.nanoseconds));
        }
        throw incomparable(left, right);
    }

    private double real(Value other) {
        if (this instanceof Real real) {
            return real.value;
        } else if (this instanceof Whole whole) {
            return whole.value.doubleValue();
        }
        throw incomparable(this, other);
    }

    private static IllegalArgumentException incomparable(Value left, Value right) {
        return new IllegalArgumentException(left.json() + " cannot be compared with " + right.json());
    }

    private static ObjectNode tagged(String tag, String text) {
        return JsonNodeFactory.instance.objectNode().put(tag, text);
    }

    private static Elements elements(JsonNode content) {
        List<Value> values = new ArrayList<>();
        content.forEach(element -> values.add(of(element)));
        return new Elements(values);
    }

    private static Entries entries(JsonNode content) {
        List<Map.Entry<Value, Value>> values = new ArrayList<>();
        content.forEach(entry -> values.add(Map.entry(of(entry.get(0)), of(entry.get(1)))));
        return new Entries(values);
    }

    private static Struct struct(JsonNode content) {
        Map<String, Value> members = new LinkedHashMap<>();
        content.properties().forEach(member -> members.put(member.getKey(), of(member.getValue())));
        return new Struct(members);
    }
}
