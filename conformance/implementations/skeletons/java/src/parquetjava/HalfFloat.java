package parquetjava;

/** Floats of 16 bits, IEEE 754's binary16: 1 bit of sign, 5 of exponent, 10 of fraction. Java has them from 20 on. */
public final class HalfFloat {
    private static final int LEAST_EXPONENT = -14;
    private static final int GREATEST_EXPONENT = 15;
    private static final int FRACTION_BITS = 10;
    private static final int FRACTION = 0x3FF;
    private static final int INFINITY = 0x7C00;
    private static final int SIGN = 0x8000;

    private HalfFloat() {}

    /** The value of these bits, which every float of 32 bits holds. */
    public static float widened(short bits) {
        int exponent = (bits & INFINITY) >> FRACTION_BITS;
        int fraction = bits & FRACTION;
        float size;
        if (exponent == 0) {
            size = Math.scalb((float) fraction, LEAST_EXPONENT - FRACTION_BITS);
        } else if (exponent <= GREATEST_EXPONENT - LEAST_EXPONENT + 1) {
            size = Math.scalb((float) (fraction + FRACTION + 1), exponent - 1 + LEAST_EXPONENT - FRACTION_BITS);
        } else {
            size = fraction == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
        }
        return (bits & SIGN) == 0 ? size : -size;
    }

    /**
     * The bits of a value.
     *
     * @throws ArithmeticException no float of 16 bits has this value
     */
    public static short bits(double value) {
        int sign = Math.copySign(1, value) < 0 ? SIGN : 0;
        if (Double.isNaN(value)) {
            return (short) (INFINITY | (FRACTION + 1) >> 1);
        } else if (Double.isInfinite(value)) {
            return (short) (sign | INFINITY);
        }
        int exponent = Math.max(Math.getExponent(value), LEAST_EXPONENT);
        double fraction = Math.scalb(Math.abs(value), FRACTION_BITS - exponent);
        if (exponent > GREATEST_EXPONENT || fraction != Math.rint(fraction)) {
            throw new ArithmeticException(value + " is not a float of 16 bits");
        }
        // The bit before a normal number's fraction is not stored; added to the exponent, it counts one.
        return (short) (sign | ((exponent - LEAST_EXPONENT) << FRACTION_BITS) + (int) fraction);
    }
}
