package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Tests {@link Value} and {@link Predicate} with the corpus of values and predicates that comes with pqassay,
 * without any file: {@code driver --corpus values.json}.
 */
final class Corpus {
    private final PrintStream lines;
    private int passed;
    private int failed;

    private Corpus(PrintStream lines) {
        this.lines = lines;
    }

    /** Prints what went wrong, and how much; returns whether all went well. */
    static boolean passes(Path file, PrintStream lines) throws IOException {
        JsonNode entries = new ObjectMapper().readTree(file.toFile());
        Corpus corpus = new Corpus(lines);
        entries.path("values").forEach(value -> corpus.count(value, isKept(value)));
        entries.path("predicates").forEach(entry -> {
            corpus.count(entry, Order.ALL.stream()
                    .filter(order -> isAbout(entry, order))
                    .allMatch(order -> isJudgedRightly(entry, order)));
        });
        lines.println(corpus.passed + " passed, " + corpus.failed + " failed");
        return corpus.failed == 0;
    }

    private void count(JsonNode entry, boolean right) {
        if (right) {
            passed++;
        } else {
            failed++;
            lines.println(entry);
        }
    }

    private static boolean isKept(JsonNode written) {
        return normalized(written).equals(normalized(Value.of(written).json()));
    }

    /** Floats may be written in more than one way, so all are written again. */
    private static JsonNode normalized(JsonNode written) {
        if (written.isArray()) {
            ArrayNode parts = JsonNodeFactory.instance.arrayNode();
            written.forEach(part -> parts.add(normalized(part)));
            return parts;
        } else if (written.path("float").isTextual()) {
            return Value.of(written).json();
        } else if (written.isObject()) {
            ObjectNode members = JsonNodeFactory.instance.objectNode();
            written.properties().forEach(member -> members.set(member.getKey(), normalized(member.getValue())));
            return members;
        }
        return written.isIntegralNumber() ? JsonNodeFactory.instance.numberNode(written.longValue()) : written;
    }

    /** Without a declaration it holds for all. */
    private static boolean isAbout(JsonNode entry, Order order) {
        String nan = order.nanGreatest() ? "greatest" : "unordered";
        String zeros = order.zerosApart() ? "apart" : "equal";
        return entry.path("nan").asText(nan).equals(nan)
                && entry.path("zeros").asText(zeros).equals(zeros);
    }

    private static boolean isJudgedRightly(JsonNode entry, Order order) {
        Value value = Value.of(entry.path("value"));
        Truth truth = Predicate.of(entry.path("predicate")).truth(name -> value, order);
        return truth.name().toLowerCase(Locale.ROOT).equals(entry.path("truth").asText());
    }
}
