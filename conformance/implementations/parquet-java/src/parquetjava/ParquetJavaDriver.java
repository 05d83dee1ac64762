package parquetjava;

import com.fasterxml.jackson.databind.node.ObjectNode;
import conformance.Driver;
import conformance.Hello;
import conformance.NoSuchOperationException;
import conformance.Request;
import conformance.Server;
import conformance.Value;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.Version;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.MessageType;

/** Lets parquet-java read, scan, decode and write. */
public final class ParquetJavaDriver implements Driver {
    private static final Set<String> SCANNED = Set.of("PQF", "STA", "PIX", "BLM", "IDX1", "DIR");
    private static final Set<String> ENCODED = Set.of("PQF", "STA", "PIX", "BLM");
    private static final List<String> CAPABILITIES = Hello.readerOfAllTypes(
            "pix.decode",
            "blm.decode",
            "pqf.encode",
            "sta.encode",
            "pix.encode",
            "blm.encode",
            "order.ieee754");

    /** Starts the driver. */
    public static void main(String[] arguments) throws IOException {
        Server.run(new ParquetJavaDriver(), arguments);
    }

    @Override
    public Hello hello() {
        // Double.compare: NaN equals itself and is the greatest, and the negative zero is less than zero.
        return new Hello("parquet-java", Version.VERSION_NUMBER, CAPABILITIES, true, true, true, List.of());
    }

    @Override
    public List<List<Value>> read(Path file, List<String> columns) throws Exception {
        return new GroupReader(file).rows(columns);
    }

    @Override
    public Found scan(Request.Scan scan) throws Exception {
        if (!SCANNED.contains(scan.family())) {
            throw new NoSuchOperationException("scan", scan.family());
        }
        // The library's filter sees the columns of the projection only, so those of the predicate are read as well.
        Set<String> columns = new HashSet<>(scan.columns());
        columns.addAll(scan.predicate().columns());
        GroupReader reader = new GroupReader(scan.file(), columns);
        reader.withFilter(FilterCompat.get(Filters.of(scan.predicate(), schema(scan.file()))))
                .useRecordFilter(true)
                .useStatsFilter(scan.index())
                .useDictionaryFilter(scan.index())
                .useColumnIndexFilter(scan.index())
                .useBloomFilter(scan.index());
        boolean ignoresIndex = scan.index() && Set.of("IDX1", "DIR").contains(scan.family());
        return new Found(reader.rows(scan.columns()), ignoresIndex);
    }

    @Override
    public ObjectNode decode(Request.Decode decode) throws Exception {
        return switch (decode.family()) {
            case "PIX" -> Structures.pageIndex(decode);
            case "BLM" -> Structures.bloomFilters(decode);
            default -> throw new NoSuchOperationException("decode", decode.family());
        };
    }

    @Override
    public void encode(Request.Encode encode) throws Exception {
        if (!ENCODED.contains(encode.family())) {
            throw new NoSuchOperationException("encode", encode.family());
        }
        GroupWriter.write(encode);
    }

    private static MessageType schema(Path file) throws IOException {
        ParquetReadOptions options =
                ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
        try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file), options)) {
            return reader.getFileMetaData().getSchema();
        }
    }
}
