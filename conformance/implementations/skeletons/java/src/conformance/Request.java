package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a driver is asked, read from JSON. */
public sealed interface Request {

    /** Which rows of the file satisfy the predicate? Of them, these columns. */
    record Scan(String family, Path file, Predicate predicate, List<String> columns, boolean index)
            implements Request {
        static Scan of(JsonNode request, JsonNode query) {
            return new Scan(
                    request.path("family").asText(),
                    Path.of(request.path("file").asText()),
                    Predicate.of(query.path("predicate")),
                    texts(query.path("columns")),
                    query.path("index").asText().equals("on"));
        }
    }

    /** What does the structure of this family say about the column, whose path is joined by dots? */
    record Decode(String family, Path file, String column, List<Value> probes) implements Request {
        static Decode of(JsonNode request) {
            return new Decode(
                    request.path("family").asText(),
                    Path.of(request.path("file").asText()),
                    request.path("column").asText(),
                    values(request.path("probes")));
        }
    }

    /**
     * Write these rows, with the structure of this family about this column.
     *
     * @param wishes an object; a member that the library cannot fulfil is a reason for {@link UnsupportedException}
     */
    record Encode(
            String family, String column, List<Column> columns, List<List<Value>> rows, Path output, JsonNode wishes)
            implements Request {
        static Encode of(JsonNode request) {
            List<Column> columns = new ArrayList<>();
            request.path("rows").path("columns").forEach(column -> columns.add(Column.of(column)));
            List<List<Value>> rows = new ArrayList<>();
            request.path("rows").path("rows").forEach(row -> rows.add(values(row)));
            return new Encode(
                    request.path("family").asText(),
                    request.path("column").asText(),
                    columns,
                    rows,
                    Path.of(request.path("output").asText()),
                    request.path("wishes"));
        }
    }

    /**
     * A column to write; its type is a word of the golden files, such as {@code decimal(9,2)} or {@code
     * list<string>}.
     */
    record Column(String name, String type, boolean nullable) {
        static Column of(JsonNode column) {
            return new Column(
                    column.path("name").asText(),
                    column.path("type").asText(),
                    column.path("nullable").asBoolean());
        }
    }

    /** The texts of a list. */
    static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    private static List<Value> values(JsonNode list) {
        List<Value> values = new ArrayList<>();
        list.forEach(value -> values.add(Value.of(value)));
        return values;
    }
}
