package hardwood;

import conformance.JavaValues;
import conformance.Predicate;
import conformance.Predicate.Comparison;
import conformance.Predicate.Connection;
import conformance.Predicate.Membership;
import conformance.Predicate.Not;
import conformance.Predicate.NullTest;
import conformance.Predicate.Operator;
import conformance.UnsupportedException;
import conformance.Value;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.reader.FilterPredicate;
import dev.hardwood.schema.FileSchema;
import dev.hardwood.schema.SchemaNode;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Predicates of the protocol as hardwood's own. */
final class Filters {
    private static final Map<Operator, String> NAMES = Map.of(
            Operator.EQUAL, "eq",
            Operator.NOT_EQUAL, "notEq",
            Operator.LESS, "lt",
            Operator.LESS_OR_EQUAL, "ltEq",
            Operator.GREATER, "gt",
            Operator.GREATER_OR_EQUAL, "gtEq");

    private final FileSchema schema;

    Filters(FileSchema schema) {
        this.schema = schema;
    }

    /**
     * The predicate for a file of this schema.
     *
     * @throws UnsupportedException the library cannot say it
     */
    FilterPredicate filter(Predicate predicate) throws Exception {
        if (predicate instanceof Connection connection) {
            List<FilterPredicate> parts = new ArrayList<>();
            for (Predicate part : connection.parts()) {
                parts.add(filter(part));
            }
            FilterPredicate[] joined = parts.toArray(FilterPredicate[]::new);
            return connection.conjunction() ? FilterPredicate.and(joined) : FilterPredicate.or(joined);
        } else if (predicate instanceof Not not) {
            return FilterPredicate.not(filter(not.part()));
        } else if (predicate instanceof NullTest test) {
            if (schema.getField(test.column()) instanceof SchemaNode.GroupNode group && !group.isStruct()
                    || schema.getField(test.column()).maxRepetitionLevel() > 0) {
                throw new UnsupportedException("predicates about repeated columns");
            }
            return test.wanted() ? FilterPredicate.isNull(test.column()) : FilterPredicate.isNotNull(test.column());
        } else if (predicate instanceof Membership membership) {
            return member(membership);
        }
        Comparison comparison = (Comparison) predicate;
        return compared(comparison.operator(), comparison.column(), comparison.literal());
    }

    private FilterPredicate member(Membership membership) throws Exception {
        String column = membership.column();
        boolean withNull = membership.literals().contains(Value.NULL);
        List<Object> values = new ArrayList<>();
        for (Value literal : membership.literals()) {
            if (!literal.equals(Value.NULL)) {
                values.add(stored(column, literal));
            }
        }
        if (values.isEmpty() || withNull && !membership.wanted()) {
            return membership.wanted() || withNull ? never(column) : FilterPredicate.isNotNull(column);
        }
        FilterPredicate found;
        if (values.get(0) instanceof Integer) {
            found = FilterPredicate.in(column, values.stream().mapToInt(value -> (Integer) value).toArray());
        } else if (values.get(0) instanceof Long) {
            found = FilterPredicate.in(column, values.stream().mapToLong(value -> (Long) value).toArray());
        } else if (values.get(0) instanceof String) {
            found = FilterPredicate.inStrings(column, values.toArray(String[]::new));
        } else {
            List<FilterPredicate> equal = new ArrayList<>();
            for (Object value : values) {
                equal.add(called(Operator.EQUAL, column, value));
            }
            found = FilterPredicate.or(equal.toArray(FilterPredicate[]::new));
        }
        return membership.wanted()
                ? found
                : FilterPredicate.and(FilterPredicate.isNotNull(column), FilterPredicate.not(found));
    }

    private FilterPredicate compared(Operator operator, String column, Value literal) throws Exception {
        return literal.equals(Value.NULL) ? never(column) : called(operator, column, stored(column, literal));
    }

    private static FilterPredicate never(String column) {
        return FilterPredicate.and(FilterPredicate.isNull(column), FilterPredicate.isNotNull(column));
    }

    /** Calls the method for an operator and the class of a value: there is one for each pair of them. */
    private static FilterPredicate called(Operator operator, String column, Object value) throws Exception {
        Class<?> type = MethodType.methodType(value.getClass()).unwrap().returnType();
        try {
            return (FilterPredicate) FilterPredicate.class
                    .getMethod(NAMES.get(operator), String.class, type)
                    .invoke(null, column, value);
        } catch (NoSuchMethodException lacking) {
            throw new UnsupportedException(NAMES.get(operator) + " with a " + type.getSimpleName());
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() instanceof Exception cause ? cause : thrown;
        }
    }

    private Object stored(String column, Value literal) throws UnsupportedException {
        if (!(schema.getField(column) instanceof SchemaNode.PrimitiveNode node)) {
            throw new UnsupportedException("predicates about nested columns");
        }
        if (literal instanceof Value.Whole whole) {
            return integer(node, whole.value());
        } else if (literal instanceof Value.Real real) {
            return switch (node.type()) {
                case DOUBLE -> real.value();
                case FLOAT, FIXED_LEN_BYTE_ARRAY -> exactly(real.value());
                default -> throw new UnsupportedException("a float with a column of " + node.type());
            };
        } else if (literal instanceof Value.Bytes bytes) {
            if (node.logicalType() instanceof LogicalType.UuidType) {
                return JavaValues.uuid(bytes);
            }
            throw new UnsupportedException("predicates about bytes");
        } else if (node.type() == PhysicalType.INT96) {
            throw new UnsupportedException("predicates about INT96");
        } else if (literal instanceof Value.Timestamp moment) {
            return JavaValues.instant(moment);
        } else if (literal instanceof Value.Time time) {
            return LocalTime.ofNanoOfDay(time.nanoseconds().longValueExact());
        } else if (literal instanceof Value.Date date) {
            return LocalDate.ofEpochDay(date.days());
        } else if (literal instanceof Value.Decimal decimal) {
            return decimal.value();
        } else if (literal instanceof Value.Text text) {
            return text.value();
        }
        return ((Value.Bool) literal).value();
    }

    private static Object integer(SchemaNode.PrimitiveNode node, BigInteger value) throws UnsupportedException {
        boolean unsigned = node.logicalType() instanceof LogicalType.IntType type && !type.isSigned();
        return switch (node.type()) {
            case INT32 -> {
                require(value.bitLength() <= (unsigned ? Integer.SIZE : Integer.SIZE - 1));
                yield value.intValue();
            }
            case INT64 -> {
                require(value.bitLength() <= (unsigned ? Long.SIZE : Long.SIZE - 1));
                yield value.longValue();
            }
            case DOUBLE -> value.doubleValue();
            case FLOAT -> exactly(value.doubleValue());
            default -> throw new UnsupportedException("a number with a column of " + node.type());
        };
    }

    private static float exactly(double value) throws UnsupportedException {
        require(Double.isNaN(value) || (float) value == value);
        return (float) value;
    }

    private static void require(boolean fits) throws UnsupportedException {
        if (!fits) {
            throw new UnsupportedException("a literal that is not a value of its column's type");
        }
    }
}
