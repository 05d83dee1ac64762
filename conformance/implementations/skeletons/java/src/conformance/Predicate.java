package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * A predicate of a scan, as {@code PROTOCOL.md} writes it.
 *
 * <p>{@link #truth} decides about a row, for drivers of libraries that filter no rows. Drivers of libraries that
 * do, turn the tree into what their library takes; {@link #withoutNot} helps where its "not" knows nothing of
 * unknown.
 */
public sealed interface Predicate {

    /**
     * The truth about a row, which is given as a function from the name of a column to its value. Only true keeps a
     * row. Floats compare as the library's {@link Hello} declares.
     */
    Truth truth(Function<String, Value> row, Order order);

    /** The truth about a row, if floats compare as IEEE 754 says. */
    default Truth truth(Function<String, Value> row) {
        return truth(row, Order.IEEE);
    }

    /**
     * The same predicate for the opposite: true becomes false, unknown stays unknown. There is no {@link Not} in
     * it.
     */
    Predicate negated();

    /**
     * The same predicate without any {@link Not}.
     *
     * <p>This takes for granted that every value is less than, equal to, or greater than another: a library that
     * leaves NaN unordered may use it for columns without NaN alone.
     */
    Predicate withoutNot();

    /** Adds the names of all columns that the predicate asks about. */
    void addColumns(Set<String> names);

    /** The names of all columns that the predicate asks about. */
    default Set<String> columns() {
        Set<String> names = new TreeSet<>();
        addColumns(names);
        return names;
    }

    /** The operators that compare a column with a literal. */
    enum Operator {
        EQUAL("="),
        NOT_EQUAL("!="),
        LESS("<"),
        LESS_OR_EQUAL("<="),
        GREATER(">"),
        GREATER_OR_EQUAL(">=");

        private final String sign;

        Operator(String sign) {
            this.sign = sign;
        }

        static Optional<Operator> of(String sign) {
            return List.of(values()).stream().filter(operator -> operator.sign.equals(sign)).findFirst();
        }

        /** The operator that is true where this one is false. */
        public Operator opposite() {
            return switch (this) {
                case EQUAL -> NOT_EQUAL;
                case NOT_EQUAL -> EQUAL;
                case LESS -> GREATER_OR_EQUAL;
                case LESS_OR_EQUAL -> GREATER;
                case GREATER -> LESS_OR_EQUAL;
                case GREATER_OR_EQUAL -> LESS;
            };
        }

        Truth truth(Value left, Value right, Order order) {
            if (left.equals(Value.NULL) || right.equals(Value.NULL)) {
                return Truth.UNKNOWN;
            }
            Optional<Integer> compared = Value.compared(left, right, order);
            if (compared.isEmpty()) {
                return Truth.of(this == NOT_EQUAL);
            }
            int sign = compared.get();
            return Truth.of(switch (this) {
                case EQUAL -> sign == 0;
                case NOT_EQUAL -> sign != 0;
                case LESS -> sign < 0;
                case LESS_OR_EQUAL -> sign <= 0;
                case GREATER -> sign > 0;
                case GREATER_OR_EQUAL -> sign >= 0;
            });
        }
    }

    /** {@code ["<", column, literal]}. */
    record Comparison(Operator operator, String column, Value literal) implements Predicate {
        @Override
        public Truth truth(Function<String, Value> row, Order order) {
            return operator.truth(row.apply(column), literal, order);
        }

        @Override
        public Predicate negated() {
            return new Comparison(operator.opposite(), column, literal);
        }

        @Override
        public Predicate withoutNot() {
            return this;
        }

        @Override
        public void addColumns(Set<String> names) {
            names.add(column);
        }
    }

    /** {@code ["in", column, [literal, ...]]}, or {@code "not in"}. */
    record Membership(boolean wanted, String column, List<Value> literals) implements Predicate {
        @Override
        public Truth truth(Function<String, Value> row, Order order) {
            Value value = row.apply(column);
            Truth found = literals.stream()
                    .map(literal -> Operator.EQUAL.truth(value, literal, order))
                    .reduce(Truth.FALSE, Truth::or);
            return wanted ? found : found.negated();
        }

        @Override
        public Predicate negated() {
            return new Membership(!wanted, column, literals);
        }

        @Override
        public Predicate withoutNot() {
            return this;
        }

        @Override
        public void addColumns(Set<String> names) {
            names.add(column);
        }
    }

    /** {@code ["is null", column]}, or {@code "is not null"}. */
    record NullTest(boolean wanted, String column) implements Predicate {
        @Override
        public Truth truth(Function<String, Value> row, Order order) {
            return Truth.of(row.apply(column).equals(Value.NULL) == wanted);
        }

        @Override
        public Predicate negated() {
            return new NullTest(!wanted, column);
        }

        @Override
        public Predicate withoutNot() {
            return this;
        }

        @Override
        public void addColumns(Set<String> names) {
            names.add(column);
        }
    }

    /** {@code ["and", predicate, ...]}, or {@code "or"}. */
    record Connection(boolean conjunction, List<Predicate> parts) implements Predicate {
        @Override
        public Truth truth(Function<String, Value> row, Order order) {
            BinaryOperator<Truth> joined = conjunction ? Truth::and : Truth::or;
            return parts.stream().map(part -> part.truth(row, order)).reduce(Truth.of(conjunction), joined);
        }

        @Override
        public Predicate negated() {
            return new Connection(!conjunction, parts.stream().map(Predicate::negated).toList());
        }

        @Override
        public Predicate withoutNot() {
            return new Connection(conjunction, parts.stream().map(Predicate::withoutNot).toList());
        }

        @Override
        public void addColumns(Set<String> names) {
            parts.forEach(part -> part.addColumns(names));
        }
    }

    /** {@code ["not", predicate]}. */
    record Not(Predicate part) implements Predicate {
        @Override
        public Truth truth(Function<String, Value> row, Order order) {
            return part.truth(row, order).negated();
        }

        @Override
        public Predicate negated() {
            return part.withoutNot();
        }

        @Override
        public Predicate withoutNot() {
            return part.negated();
        }

        @Override
        public void addColumns(Set<String> names) {
            part.addColumns(names);
        }
    }

    /**
     * Reads a predicate of a request.
     *
     * @throws IllegalArgumentException the protocol has no such predicate
     */
    static Predicate of(JsonNode tree) {
        String name = tree.path(0).asText();
        Optional<Operator> operator = Operator.of(name);
        if (operator.isPresent()) {
            return new Comparison(operator.get(), tree.path(1).asText(), Value.of(tree.path(2)));
        }
        return switch (name) {
            case "in", "not in" -> new Membership(name.equals("in"), tree.path(1).asText(), literals(tree.path(2)));
            case "is null", "is not null" -> new NullTest(name.equals("is null"), tree.path(1).asText());
            case "and", "or" -> new Connection(name.equals("and"), parts(tree));
            case "not" -> new Not(of(tree.path(1)));
            default -> throw new IllegalArgumentException(tree + " is not a predicate");
        };
    }

    private static List<Value> literals(JsonNode list) {
        List<Value> literals = new ArrayList<>();
        list.forEach(literal -> literals.add(Value.of(literal)));
        return literals;
    }

    private static List<Predicate> parts(JsonNode tree) {
        List<Predicate> parts = new ArrayList<>();
        tree.forEach(part -> {
            if (!part.isTextual()) {
                parts.add(of(part));
            }
        });
        return parts;
    }
}
