package conformance;

import java.util.List;
import java.util.Optional;

/**
 * How a library compares floats, as its {@link Hello} declares it.
 *
 * @param nanGreatest whether NaN equals itself and is greater than all other floats; otherwise it equals nothing
 * @param zerosApart whether the negative zero is less than the positive one; otherwise they are equal
 */
public record Order(boolean nanGreatest, boolean zerosApart) {
    /** As IEEE 754 compares. */
    public static final Order IEEE = new Order(false, false);

    /** Every order that a library may declare. */
    static final List<Order> ALL =
            List.of(IEEE, new Order(true, false), new Order(false, true), new Order(true, true));

    /** Negative, zero or positive; empty if they do not compare, because one of them is NaN. */
    Optional<Integer> compared(double left, double right) {
        if (Double.isNaN(left) || Double.isNaN(right)) {
            return nanGreatest
                    ? Optional.of(Boolean.compare(Double.isNaN(left), Double.isNaN(right)))
                    : Optional.empty();
        }
        return Optional.of(zerosApart ? Double.compare(left, right) : left < right ? -1 : left > right ? 1 : 0);
    }
}
