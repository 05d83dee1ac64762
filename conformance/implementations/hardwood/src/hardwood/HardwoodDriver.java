package hardwood;

import conformance.Driver;
import conformance.Hello;
import conformance.JavaValues;
import conformance.NoSuchOperationException;
import conformance.Request;
import conformance.Server;
import conformance.UnsupportedException;
import conformance.Value;
import dev.hardwood.InputFile;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.reader.RowReader;
import dev.hardwood.row.PqInterval;
import dev.hardwood.row.PqList;
import dev.hardwood.row.PqMap;
import dev.hardwood.row.PqStruct;
import dev.hardwood.row.PqVariant;
import dev.hardwood.schema.ColumnProjection;
import dev.hardwood.schema.SchemaNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lets hardwood read and scan. */
public final class HardwoodDriver implements Driver {
    private static final Set<String> SCANNED = Set.of("PQF", "STA", "PIX", "BLM", "IDX1", "DIR");
    private static final int MEMBERS_OF_VARIANT = 2;
    private static final Set<String> UNKNOWN_INDEXES = Set.of("BLM", "IDX1", "DIR");
    /** Starts the driver. */
    public static void main(String[] arguments) throws IOException {
        Server.run(new HardwoodDriver(), arguments);
    }

    @Override
    public Hello hello() {
        String version = ParquetFileReader.class.getPackage().getImplementationVersion();
        return new Hello("hardwood", version, Hello.readerOfAllTypes("codec.brotli"), true, true);
    }

    @Override
    public List<List<Value>> read(Path file, List<String> columns) throws Exception {
        try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file))) {
            return rows(reader, reader.buildRowReader(), columns);
        }
    }

    @Override
    public Found scan(Request.Scan scan) throws Exception {
        if (!SCANNED.contains(scan.family())) {
            throw new NoSuchOperationException("scan", scan.family());
        } else if (!scan.index()) {
            return Driver.super.scan(scan); // The library skips what it can whenever there is a filter.
        }
        try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(scan.file()))) {
            Filters filters = new Filters(reader.getFileSchema());
            ParquetFileReader.RowReaderBuilder builder =
                    reader.buildRowReader().filter(filters.filter(scan.predicate()));
            return new Found(
                    rows(reader, builder, scan.columns()), UNKNOWN_INDEXES.contains(scan.family()));
        }
    }

    private static List<List<Value>> rows(
            ParquetFileReader file, ParquetFileReader.RowReaderBuilder builder, List<String> columns) throws Exception {
        for (String column : columns) {
            if (file.getFileSchema().getField(column) instanceof SchemaNode.GroupNode group
                    && group.isVariant()
                    && group.children().size() > MEMBERS_OF_VARIANT) {
                throw new UnsupportedException("a variant as it is stored in several columns");
            }
        }
        List<List<Value>> rows = new ArrayList<>();
        builder.projection(ColumnProjection.columns(columns.toArray(String[]::new)));
        try (RowReader reader = builder.build()) {
            while (reader.hasNext()) {
                reader.next();
                List<Value> row = new ArrayList<>();
                for (String column : columns) {
                    row.add(value(reader.getValue(column)));
                }
                rows.add(row);
            }
        }
        return rows;
    }

    private static Value value(Object object) throws UnsupportedException {
        if (object instanceof PqList list) {
            List<Value> elements = new ArrayList<>();
            for (Object element : list.values()) {
                elements.add(value(element));
            }
            return new Value.Elements(elements);
        } else if (object instanceof PqMap map) {
            List<Map.Entry<Value, Value>> entries = new ArrayList<>();
            for (PqMap.Entry entry : map.getEntries()) {
                entries.add(Map.entry(value(entry.getKey()), value(entry.getValue())));
            }
            return new Value.Entries(entries);
        } else if (object instanceof PqStruct struct) {
            Map<String, Value> members = new LinkedHashMap<>();
            for (int field = 0; field < struct.getFieldCount(); field++) {
                members.put(struct.getFieldName(field), value(struct.getValue(field)));
            }
            return new Value.Struct(members);
        } else if (object instanceof PqVariant variant) {
            Map<String, Value> members = new LinkedHashMap<>();
            members.put("metadata", new Value.Bytes(variant.metadata()));
            members.put("value", new Value.Bytes(variant.value()));
            return new Value.Struct(members);
        } else if (object instanceof PqInterval interval) {
            ByteBuffer bytes = ByteBuffer.allocate(3 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt((int) interval.months()).putInt((int) interval.days()).putInt((int) interval.milliseconds());
            return new Value.Bytes(bytes.array());
        }
        return JavaValues.of(object);
    }
}
