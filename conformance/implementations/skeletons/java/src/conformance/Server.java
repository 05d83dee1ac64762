package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/** Carries requests to a {@link Driver}, and its answers back: from file to file, or line by line. */
public final class Server {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern IDENTITY = Pattern.compile("@[0-9a-f]{1,8}\\b");
    private static final int NO_SUCH_OPERATION = 3;
    private static final int USAGE = 2;

    private final Driver driver;
    private final OutputStream answers;

    private Server(Driver driver, OutputStream answers) {
        this.driver = driver;
        this.answers = answers;
    }

    /**
     * The main program of every driver: {@code --serve}, the paths of a request and of its answer, or {@code
     * --corpus}.
     */
    public static void run(Driver driver, String[] arguments) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err); // Nothing that a library prints gets between the answers.
        try {
            if (arguments.length == 1 && arguments[0].equals("--serve")) {
                new Server(driver, answers).serve();
            } else if (arguments.length == 2 && arguments[0].equals("--corpus")) {
                System.exit(Corpus.passes(Path.of(arguments[1]), answers) ? 0 : 1);
            } else if (arguments.length == 2) {
                System.exit(answerOne(driver, Path.of(arguments[0]), Path.of(arguments[1])));
            } else {
                System.err.println("usage: driver REQUEST ANSWER, driver --serve, or driver --corpus FILE");
                System.exit(USAGE);
            }
        } catch (Error error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1); // Threads of the library must not keep a crashed process alive.
        }
    }

    private void serve() throws IOException {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            try {
                answer(JSON.readTree(line));
            } catch (NoSuchOperationException none) {
                write(unsupported(none));
            }
        }
    }

    private static int answerOne(Driver driver, Path request, Path answer) throws IOException {
        try (OutputStream answers = Files.newOutputStream(answer)) {
            new Server(driver, answers).answer(JSON.readTree(request.toFile()));
            return 0;
        } catch (NoSuchOperationException none) {
            System.err.println(none.getMessage());
            return NO_SUCH_OPERATION;
        }
    }

    private void answer(JsonNode request) throws IOException, NoSuchOperationException {
        String operation = request.path("op").asText();
        switch (operation) {
            case "hello" -> write(driver.hello().json());
            case "read" -> read(request);
            case "scan" -> scan(request);
            case "decode" -> decode(Request.Decode.of(request));
            case "encode" -> encode(Request.Encode.of(request));
            default -> throw new NoSuchOperationException(
                    operation, request.path("family").asText());
        }
    }

    private void read(JsonNode request) throws IOException, NoSuchOperationException {
        Path file = Path.of(request.path("file").asText());
        List<String> columns = Request.texts(request.path("columns"));
        write(outcome(() -> accept().set("rows", rows(driver.read(file, columns)))));
    }

    private void scan(JsonNode request) throws IOException, NoSuchOperationException {
        for (JsonNode query : request.path("queries")) {
            Request.Scan scan = Request.Scan.of(request, query);
            ObjectNode answer = outcome(() -> {
                Driver.Found found = driver.scan(scan);
                ObjectNode accepted = found.indexIgnored() ? answer("ignored-index") : accept();
                return accepted.set("rows", rows(found.rows()));
            });
            write(answer.set("seq", query.path("seq")));
        }
    }

    private void decode(Request.Decode decode) throws IOException, NoSuchOperationException {
        write(outcome(() -> accept().set("value", driver.decode(decode))));
    }

    private void encode(Request.Encode encode) throws IOException, NoSuchOperationException {
        write(outcome(() -> {
            driver.encode(encode);
            return accept();
        }));
    }

    /** The answer, or what an exception says instead of it. An {@code Error} passes. */
    private static ObjectNode outcome(Callable<ObjectNode> question) throws NoSuchOperationException {
        try {
            return question.call();
        } catch (NoSuchOperationException none) {
            throw none;
        } catch (UnsupportedException lacking) {
            return unsupported(lacking);
        } catch (Exception refusal) {
            return answer("reject")
                    .put("message", messages(refusal))
                    .put("raised", refusal.getClass().getName());
        }
    }

    /** The messages of an exception and of its causes, which often say more; without what differs in every run. */
    private static String messages(Throwable refusal) {
        StringBuilder text = new StringBuilder();
        for (Throwable one = refusal; one != null; one = one.getCause()) {
            text.append(text.isEmpty() ? "" : "; caused by " + one.getClass().getName() + ": ");
            text.append(one.getMessage() == null ? "no message" : one.getMessage());
        }
        return IDENTITY.matcher(text).replaceAll("");
    }

    private static ArrayNode rows(List<List<Value>> rows) {
        ArrayNode written = JsonNodeFactory.instance.arrayNode();
        for (List<Value> row : rows) {
            ArrayNode values = written.addArray();
            row.forEach(value -> values.add(value.json()));
        }
        return written;
    }

    private static ObjectNode accept() {
        return answer("accept");
    }

    private static ObjectNode unsupported(Exception lacking) {
        return answer("unsupported").put("reason", lacking.getMessage());
    }

    private static ObjectNode answer(String answer) {
        return JsonNodeFactory.instance.objectNode().put("answer", answer);
    }

    private void write(ObjectNode answer) throws IOException {
        answers.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
        answers.flush();
    }
}
