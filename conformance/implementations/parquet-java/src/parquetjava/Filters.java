package parquetjava;

import conformance.Predicate;
import conformance.Predicate.Comparison;
import conformance.Predicate.Connection;
import conformance.Predicate.Membership;
import conformance.Predicate.NullTest;
import conformance.Predicate.Operator;
import conformance.UnsupportedException;
import conformance.Value;
import java.util.HashSet;
import java.util.Set;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.Operators.Column;
import org.apache.parquet.filter2.predicate.Operators.SupportsEqNotEq;
import org.apache.parquet.filter2.predicate.Operators.SupportsLtGt;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;

/**
 * Predicates of the protocol as parquet-java's own.
 *
 * <p>The library documents that {@code notEq} and {@code notIn} keep nulls; SQL does not, so {@code notEq(column,
 * null)} is added. It has no predicate that is never true: here that is "null and not null".
 */
final class Filters {
    private final MessageType schema;

    private Filters(MessageType schema) {
        this.schema = schema;
    }

    /**
     * The predicate for a file of this schema.
     *
     * @throws UnsupportedException the library cannot say it
     */
    static FilterPredicate of(Predicate predicate, MessageType schema) throws UnsupportedException {
        // All comparisons of the library are total (NaN is the greatest), so each has an opposite.
        return new Filters(schema).filter(predicate.withoutNot());
    }

    private FilterPredicate filter(Predicate predicate) throws UnsupportedException {
        if (predicate instanceof Connection connection) {
            FilterPredicate joined = filter(connection.parts().get(0));
            for (Predicate part : connection.parts().subList(1, connection.parts().size())) {
                joined = connection.conjunction()
                        ? FilterApi.and(joined, filter(part))
                        : FilterApi.or(joined, filter(part));
            }
            return joined;
        } else if (predicate instanceof NullTest test) {
            ColumnFilter<?, ?> column = column(test.column());
            return test.wanted() ? column.isNull() : column.isNotNull();
        } else if (predicate instanceof Membership membership) {
            return column(membership.column()).member(membership);
        }
        Comparison comparison = (Comparison) predicate;
        return column(comparison.column()).compared(comparison);
    }

    private ColumnFilter<?, ?> column(String name) throws UnsupportedException {
        Type field = schema.getType(name);
        if (!field.isPrimitive() || field.isRepetition(Type.Repetition.REPEATED)) {
            throw new UnsupportedException("predicates about nested columns");
        } else if (name.contains(".")) {
            throw new UnsupportedException("predicates about columns with a dot in their names");
        }
        PrimitiveType type = field.asPrimitiveType();
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> new ColumnFilter<>(FilterApi.booleanColumn(name), type);
            case INT32 -> new OrderedFilter<>(FilterApi.intColumn(name), type);
            case INT64 -> new OrderedFilter<>(FilterApi.longColumn(name), type);
            case FLOAT -> new OrderedFilter<>(FilterApi.floatColumn(name), type);
            case DOUBLE -> new OrderedFilter<>(FilterApi.doubleColumn(name), type);
            case INT96, BINARY, FIXED_LEN_BYTE_ARRAY -> new OrderedFilter<>(FilterApi.binaryColumn(name), type);
        };
    }

    /** The predicates about a column of values of the Java type {@code T}. */
    private static class ColumnFilter<T extends Comparable<T>, C extends Column<T> & SupportsEqNotEq> {
        protected final C column;
        protected final PrimitiveType type;

        ColumnFilter(C column, PrimitiveType type) {
            this.column = column;
            this.type = type;
        }

        FilterPredicate isNull() {
            return FilterApi.eq(column, null);
        }

        FilterPredicate isNotNull() {
            return FilterApi.notEq(column, null);
        }

        FilterPredicate member(Membership membership) throws UnsupportedException {
            Set<T> values = new HashSet<>();
            for (Value literal : membership.literals()) {
                if (!literal.equals(Value.NULL)) {
                    values.add(stored(literal));
                }
            }
            if (membership.wanted()) {
                return values.isEmpty() ? never() : FilterApi.in(column, values);
            }
            boolean unknown = membership.literals().contains(Value.NULL);
            return unknown ? never() : FilterApi.and(isNotNull(), FilterApi.notIn(column, values));
        }

        final FilterPredicate compared(Comparison comparison) throws UnsupportedException {
            return comparison.literal().equals(Value.NULL)
                    ? never()
                    : compared(comparison.operator(), stored(comparison.literal()));
        }

        FilterPredicate compared(Operator operator, T value) throws UnsupportedException {
            return switch (operator) {
                case EQUAL -> FilterApi.eq(column, value);
                case NOT_EQUAL -> FilterApi.and(isNotNull(), FilterApi.notEq(column, value));
                default -> throw new UnsupportedException(
                        operator + " about columns of " + type.getPrimitiveTypeName());
            };
        }

        private FilterPredicate never() {
            return FilterApi.and(isNull(), isNotNull());
        }

        private T stored(Value literal) throws UnsupportedException {
            return column.getColumnType().cast(StoredValue.of(literal, type));
        }
    }

    /** The same of columns whose values are ordered. */
    private static final class OrderedFilter<T extends Comparable<T>, C extends Column<T> & SupportsLtGt>
            extends ColumnFilter<T, C> {
        OrderedFilter(C column, PrimitiveType type) {
            super(column, type);
        }

        @Override
        FilterPredicate compared(Operator operator, T value) throws UnsupportedException {
            if (type.getPrimitiveTypeName() == PrimitiveTypeName.INT96) {
                return super.compared(operator, value); // The library says that INT96 has no order.
            }
            return switch (operator) {
                case LESS -> FilterApi.lt(column, value);
                case LESS_OR_EQUAL -> FilterApi.ltEq(column, value);
                case GREATER -> FilterApi.gt(column, value);
                case GREATER_OR_EQUAL -> FilterApi.gtEq(column, value);
                default -> super.compared(operator, value);
            };
        }
    }
}
