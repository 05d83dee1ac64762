package template;

import conformance.Driver;
import conformance.Hello;
import conformance.Server;
import conformance.Value;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.Version;
import parquetjava.GroupReader;

/** A driver that answers {@code hello} and {@code read}. Put your library in the place that is marked. */
public final class TemplateDriver implements Driver {
    private static final List<String> CAPABILITIES = List.of(
            "parquet",
            "read",
            "nested",
            "nested.map",
            "type.unsigned",
            "type.decimal",
            "type.date",
            "type.time",
            "type.timestamp",
            "codec.snappy");

    /** Starts the driver. */
    public static void main(String[] arguments) throws IOException {
        Server.run(new TemplateDriver(), arguments);
    }

    @Override
    public Hello hello() {
        return new Hello("my-library", Version.VERSION_NUMBER, CAPABILITIES, false, false);
    }

    @Override
    public List<List<Value>> read(Path file, List<String> columns) throws Exception {
        // >>> Your library goes here: read the file, and make a Value of each value. What it throws is its refusal.
        return new GroupReader(file).rows(columns);
        // <<<
    }
}
