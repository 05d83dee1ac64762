package conformance;

/** SQL's three values of truth. */
public enum Truth {
    FALSE,
    UNKNOWN,
    TRUE;

    /** True or false. */
    public static Truth of(boolean truth) {
        return truth ? TRUE : FALSE;
    }

    /** The less true of both. */
    public Truth and(Truth other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The more true of both. */
    public Truth or(Truth other) {
        return compareTo(other) >= 0 ? this : other;
    }

    /** Not unknown is unknown. */
    public Truth negated() {
        return values()[TRUE.ordinal() - ordinal()];
    }
}
