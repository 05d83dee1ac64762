package conformance;

/** The library lacks what the file or the request needs (a codec, a type, a wish). Never for damage. */
public final class UnsupportedException extends Exception {
    private static final long serialVersionUID = 1;

    /** The reason goes into the answer. */
    public UnsupportedException(String reason) {
        super(reason);
    }
}
