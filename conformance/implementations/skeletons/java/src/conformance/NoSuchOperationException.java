package conformance;

/** The driver does not answer this operation, or not for this family: exit status 3. */
public final class NoSuchOperationException extends Exception {
    private static final long serialVersionUID = 1;

    /** Names the operation. */
    public NoSuchOperationException(String operation, String family) {
        super("operation " + operation + (family.isEmpty() ? "" : " of " + family));
    }
}
