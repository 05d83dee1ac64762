package conformance;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a driver says about itself.
 *
 * @param name the library's name
 * @param version the library's version, best asked of the library
 * @param capabilities what is declared is asked: see {@code PROTOCOL.md}
 * @param nanGreatest whether NaN equals itself and is greater than all other floats; otherwise it equals nothing
 * @param zerosApart whether the negative zero is less than the positive one; otherwise they are equal
 * @param indexOff whether the library itself can leave indexes aside, and still filters rows
 * @param raises classes of exceptions that the library raises on purpose, or patterns of them; if empty, the runner goes by names
 */
public record Hello(
        String name,
        String version,
        List<String> capabilities,
        boolean nanGreatest,
        boolean zerosApart,
        boolean indexOff,
        List<String> raises) {

    /** Of a library that cannot leave indexes aside. */
    public Hello(String name, String version, List<String> capabilities, boolean nanGreatest, boolean zerosApart) {
        this(name, version, capabilities, nanGreatest, zerosApart, false, List.of());
    }

    /** How floats compare. */
    Order order() {
        return new Order(nanGreatest, zerosApart);
    }

    private static final List<String> READER_OF_ALL_TYPES = List.of(
            "parquet",
            "read",
            "pqf.scan",
            "sta.scan",
            "pix.scan",
            "blm.scan",
            "idx1.scan",
            "dir.scan",
            "nested",
            "nested.map",
            "type.unsigned",
            "type.decimal",
            "type.date",
            "type.time",
            "type.timestamp",
            "type.timestamp-nanos",
            "type.int96",
            "type.float16",
            "type.uuid",
            "type.fixed",
            "type.enum",
            "type.json",
            "type.bson",
            "type.interval",
            "type.geometry",
            "type.variant",
            "type.unknown",
            "codec.snappy",
            "codec.gzip",
            "codec.zstd",
            "codec.lz4",
            "codec.lz4-raw");

    /** Capabilities of a reader that filters rows and knows all types, and what it can do besides. */
    public static List<String> readerOfAllTypes(String... besides) {
        return Stream.concat(READER_OF_ALL_TYPES.stream(), Stream.of(besides)).toList();
    }

    ObjectNode json() {
        ObjectNode answer = JsonNodeFactory.instance
                .objectNode()
                .put("answer", "accept")
                .put("name", name)
                .put("version", version)
                .put("language", "Java");
        ArrayNode declared = answer.putArray("capabilities");
        capabilities.forEach(declared::add);
        if (!raises.isEmpty()) {
            ArrayNode classes = answer.putArray("raises");
            raises.forEach(classes::add);
        }
        return answer.put("serve", true)
                .put("index_off", indexOff)
                .put("nan", nanGreatest ? "greatest" : "unordered")
                .put("zeros", zerosApart ? "apart" : "equal");
    }
}
