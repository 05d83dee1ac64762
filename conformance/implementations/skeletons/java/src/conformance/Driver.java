package conformance;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a driver answers. Only {@link #hello} and {@link #read} must be written.
 *
 * <p>Whatever {@code Exception} an operation lets out is answered as the library's refusal of the file, by the name
 * of its class. So catch none of them. An {@code Error} ends the process, which is a crash.
 */
public interface Driver {

    /** Who are you, and what can you do? */
    Hello hello();

    /** All rows of the file, each with one value for each of these columns. */
    List<List<Value>> read(Path file, List<String> columns) throws Exception;

    /**
     * The rows that satisfy a predicate.
     *
     * <p>As long as a library that filters is not asked, all rows are read and filtered here: with the columns of the
     * predicate, which are dropped again where they are not wanted, and in the order that {@link #hello} declares.
     */
    default Found scan(Request.Scan scan) throws Exception {
        Set<String> needed = new LinkedHashSet<>(scan.columns());
        needed.addAll(scan.predicate().columns());
        List<String> columns = List.copyOf(needed);
        Order order = hello().order();
        List<List<Value>> kept = read(scan.file(), columns).stream()
                .filter(row -> scan.predicate().truth(name -> row.get(columns.indexOf(name)), order) == Truth.TRUE)
                .map(row -> row.subList(0, scan.columns().size()))
                .toList();
        return new Found(kept, scan.index());
    }

    /** What a structure says: the {@code value} of the answer. */
    default ObjectNode decode(Request.Decode decode) throws Exception {
        throw new NoSuchOperationException("decode", decode.family());
    }

    /** Writes a file. After a refusal nothing may be left of it. */
    default void encode(Request.Encode encode) throws Exception {
        throw new NoSuchOperationException("encode", encode.family());
    }

    /**
     * The rows of a scan.
     *
     * @param indexIgnored whether the library has nothing like the index that it should have used
     */
    record Found(List<List<Value>> rows, boolean indexIgnored) {}
}
