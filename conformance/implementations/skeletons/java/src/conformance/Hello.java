package conformance;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * What a driver says of itself.
 *
 * @param name the library's name
 * @param version the library's version, best asked of the library
 * @param capabilities what is declared is asked: see {@code PROTOCOL.md}
 * @param nanGreatest whether NaN equals itself and is greater than all other floats; otherwise it equals nothing
 * @param zerosApart whether the negative zero is less than the positive one; otherwise they are equal
 */
public record Hello(
        String name, String version, List<String> capabilities, boolean nanGreatest, boolean zerosApart) {

    ObjectNode json() {
        ObjectNode answer = JsonNodeFactory.instance
                .objectNode()
                .put("answer", "accept")
                .put("name", name)
                .put("version", version)
                .put("language", "Java");
        ArrayNode declared = answer.putArray("capabilities");
        capabilities.forEach(declared::add);
        return answer.put("serve", true)
                .put("nan", nanGreatest ? "greatest" : "unordered")
                .put("zeros", zerosApart ? "apart" : "equal");
    }
}
