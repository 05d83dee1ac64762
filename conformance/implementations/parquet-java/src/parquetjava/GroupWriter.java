package parquetjava;

import com.fasterxml.jackson.databind.JsonNode;
import conformance.Request;
import conformance.UnsupportedException;
import conformance.Value;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/** Writes rows with parquet-java's {@code ParquetWriter} and its settings, but for what the request wishes. */
final class GroupWriter {
    private final ExampleParquetWriter.Builder builder;
    private final MessageType schema;

    private GroupWriter(Path file, MessageType schema) {
        this.schema = schema;
        builder = ExampleParquetWriter.builder(new LocalOutputFile(file))
                .withConf(new PlainParquetConfiguration())
                .withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
                .withType(schema);
    }

    /** Writes the file of a request, whole or not at all. */
    static void write(Request.Encode request) throws IOException, UnsupportedException {
        MessageType schema = WrittenTypes.schema(request.columns());
        Path unfinished = request.output().resolveSibling(request.output().getFileName() + ".unfinished");
        try {
            GroupWriter writer = new GroupWriter(unfinished, schema);
            if (request.family().equals("BLM")) {
                writer.filter(request.column());
            }
            for (Map.Entry<String, JsonNode> wish : request.wishes().properties()) {
                writer.fulfil(wish.getKey(), wish.getValue());
            }
            writer.write(request.rows());
            Files.move(unfinished, request.output(), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private void fulfil(String wish, JsonNode value) throws UnsupportedException {
        switch (wish) {
            // The library looks at the limit of the first page after as many rows as the second setting says.
            case "page_rows" -> builder.withPageRowCountLimit(value.intValue())
                    .withMinRowCountForPageSizeCheck(value.intValue());
            case "row_group_rows" -> builder.withRowGroupRowCountLimit(value.intValue());
            case "dictionary" -> builder.withDictionaryEncoding(value.booleanValue());
            case "bloom_filter" -> Request.texts(value).forEach(this::filter);
            case "page_index" -> require(value.booleanValue(), "no page index"); // It is always written.
            case "statistics" -> builder.withStatisticsEnabled(value.booleanValue());
            case "data_page_version" -> builder.withWriterVersion(
                    value.intValue() == 2 ? WriterVersion.PARQUET_2_0 : WriterVersion.PARQUET_1_0);
            case "codec" -> {
                require(!value.textValue().equals("brotli"), "codec brotli"); // Its codec is not in Maven Central.
                builder.withCompressionCodec(
                        CompressionCodecName.valueOf(value.textValue().toUpperCase(Locale.ROOT)));
            }
            default -> throw new UnsupportedException(wish);
        }
    }

    private static void require(boolean fulfilled, String wish) throws UnsupportedException {
        if (!fulfilled) {
            throw new UnsupportedException(wish);
        }
    }

    /** Bloom filters for all leaves of a column. */
    private void filter(String name) {
        for (ColumnDescriptor leaf : schema.getColumns()) {
            if (leaf.getPath()[0].equals(name)) {
                builder.withBloomFilterEnabled(String.join(".", leaf.getPath()), true);
            }
        }
    }

    private void write(List<List<Value>> rows) throws IOException, UnsupportedException {
        try (ParquetWriter<Group> writer = builder.build()) {
            for (List<Value> row : rows) {
                Group group = new SimpleGroup(schema);
                for (int field = 0; field < row.size(); field++) {
                    add(group, field, row.get(field));
                }
                writer.write(group);
            }
        }
    }

    private static void add(Group group, int field, Value value) throws UnsupportedException {
        Type type = group.getType().getType(field);
        if (value.equals(Value.NULL)) {
            return; // An absent field is null. Whether it may be absent, the library does not check unless told to.
        } else if (type.isPrimitive()) {
            addStored(group, field, StoredValue.of(value, type.asPrimitiveType()));
        } else if (value instanceof Value.Struct struct) {
            addStruct(group.addGroup(field), struct);
        } else if (type.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation) {
            Group list = group.addGroup(field);
            for (Value element : ((Value.Elements) value).values()) {
                add(list.addGroup(0), 0, element);
            }
        } else {
            Group map = group.addGroup(field);
            for (Map.Entry<Value, Value> entry : ((Value.Entries) value).values()) {
                Group added = map.addGroup(0);
                add(added, 0, entry.getKey());
                add(added, 1, entry.getValue());
            }
        }
    }

    private static void addStruct(Group group, Value.Struct struct) throws UnsupportedException {
        GroupType type = group.getType();
        for (Map.Entry<String, Value> member : struct.members().entrySet()) {
            add(group, type.getFieldIndex(member.getKey()), member.getValue());
        }
    }

    private static void addStored(Group group, int field, Object stored) {
        if (stored instanceof Boolean truth) {
            group.add(field, truth);
        } else if (stored instanceof Integer number) {
            group.add(field, number);
        } else if (stored instanceof Long number) {
            group.add(field, number);
        } else if (stored instanceof Float number) {
            group.add(field, number);
        } else if (stored instanceof Double number) {
            group.add(field, number);
        } else {
            group.add(field, (Binary) stored);
        }
    }
}
