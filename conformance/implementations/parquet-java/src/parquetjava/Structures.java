package parquetjava;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import conformance.Request;
import conformance.UnsupportedException;
import conformance.Value;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.internal.column.columnindex.ColumnIndex;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.PrimitiveType;

/** What page index and bloom filters of a column say, as parquet-java reads them, in the words of the protocol. */
final class Structures {
    private final ParquetFileReader reader;
    private final Request.Decode request;

    private Structures(ParquetFileReader reader, Request.Decode request) {
        this.reader = reader;
        this.request = request;
    }

    /** The page index of the column, by row groups. */
    static ObjectNode pageIndex(Request.Decode request) throws IOException, UnsupportedException {
        return rowGroups(request, Structures::pageIndex);
    }

    /** The bloom filters of the column, by row groups. */
    static ObjectNode bloomFilters(Request.Decode request) throws IOException, UnsupportedException {
        return rowGroups(request, Structures::bloomFilter);
    }

    private interface Decoding {
        ObjectNode of(Structures structures, ColumnChunkMetaData chunk) throws IOException, UnsupportedException;
    }

    private static ObjectNode rowGroups(Request.Decode request, Decoding decoding)
            throws IOException, UnsupportedException {
        ParquetReadOptions options =
                ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
        ObjectNode value = JsonNodeFactory.instance.objectNode();
        ArrayNode rowGroups = value.putArray("row_groups");
        try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(request.file()), options)) {
            Structures structures = new Structures(reader, request);
            for (BlockMetaData block : reader.getRowGroups()) {
                Optional<ColumnChunkMetaData> chunk = structures.chunk(block);
                rowGroups.add(
                        chunk.isPresent()
                                ? decoding.of(structures, chunk.get())
                                : JsonNodeFactory.instance.objectNode());
            }
        }
        return value;
    }

    private Optional<ColumnChunkMetaData> chunk(BlockMetaData block) {
        return block.getColumns().stream()
                .filter(chunk -> chunk.getPath().toDotString().equals(request.column()))
                .findFirst();
    }

    private ObjectNode pageIndex(ColumnChunkMetaData chunk) throws IOException {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        ColumnIndex columnIndex = reader.readColumnIndex(chunk);
        if (columnIndex != null) {
            answer.set("column_index", columnIndex(columnIndex));
        }
        OffsetIndex offsetIndex = reader.readOffsetIndex(chunk);
        if (offsetIndex != null) {
            ArrayNode locations = answer.putObject("offset_index").putArray("page_locations");
            for (int page = 0; page < offsetIndex.getPageCount(); page++) {
                locations
                        .addArray()
                        .add(offsetIndex.getOffset(page))
                        .add(offsetIndex.getCompressedPageSize(page))
                        .add(offsetIndex.getFirstRowIndex(page));
            }
        }
        return answer;
    }

    private static ObjectNode columnIndex(ColumnIndex index) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        ArrayNode nullPages = answer.putArray("null_pages");
        index.getNullPages().forEach(nullPages::add);
        answer.set("min_values", bounds(index.getMinValues(), index.getNullPages()));
        answer.set("max_values", bounds(index.getMaxValues(), index.getNullPages()));
        answer.put("boundary_order", index.getBoundaryOrder().ordinal());
        addCounts(answer, "null_counts", index.getNullCounts());
        addCounts(answer, "nan_counts", index.getNanCounts());
        return answer;
    }

    private static void addCounts(ObjectNode answer, String name, List<Long> counts) {
        if (counts != null) {
            ArrayNode written = answer.putArray(name);
            counts.forEach(written::add);
        }
    }

    private static ArrayNode bounds(List<ByteBuffer> bounds, List<Boolean> nullPages) {
        ArrayNode written = JsonNodeFactory.instance.arrayNode();
        for (int page = 0; page < bounds.size(); page++) {
            byte[] bytes = new byte[bounds.get(page).remaining()];
            bounds.get(page).duplicate().get(bytes);
            written.add((nullPages.get(page) ? Value.NULL : new Value.Bytes(bytes)).json());
        }
        return written;
    }

    private ObjectNode bloomFilter(ColumnChunkMetaData chunk) throws IOException, UnsupportedException {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        BloomFilter filter = reader.readBloomFilter(chunk);
        if (filter != null) {
            answer.put("size", filter.getBitsetSize());
            ArrayNode held = answer.putArray("held");
            for (Value probe : request.probes()) {
                held.add(mayHold(filter, probe, chunk.getPrimitiveType()));
            }
        }
        return answer;
    }

    private static boolean mayHold(BloomFilter filter, Value probe, PrimitiveType type) throws UnsupportedException {
        boolean held = filter.findHash(filter.hash(StoredValue.of(probe, type)));
        if (probe instanceof Value.Real real && real.value() == 0) {
            Value otherZero = new Value.Real(-real.value());
            return held || filter.findHash(filter.hash(StoredValue.of(otherZero, type)));
        }
        return held;
    }
}
