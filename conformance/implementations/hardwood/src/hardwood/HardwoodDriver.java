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
import dev.hardwood.metadata.LogicalType;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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
            return rows(reader, reader.buildRowReader(), columns, Set.of());
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
                    rows(reader, builder, scan.columns(), scan.predicate().columns()), UNKNOWN_INDEXES.contains(scan.family()));
        }
    }

    private static List<List<Value>> rows(
            ParquetFileReader file, ParquetFileReader.RowReaderBuilder builder, List<String> columns, Set<String> asked)
            throws Exception {
        List<SchemaNode> nodes = new ArrayList<>();
        for (String column : columns) {
            nodes.add(file.getFileSchema().getField(column));
            if (nodes.get(nodes.size() - 1) instanceof SchemaNode.GroupNode group
                    && group.isVariant()
                    && group.children().size() > MEMBERS_OF_VARIANT) {
                throw new UnsupportedException("a variant as it is stored in several columns");
            }
        }
        List<List<Value>> rows = new ArrayList<>();
        // The library filters by columns of the projection alone, which takes dots for those of paths.
        Set<String> projected = new LinkedHashSet<>(columns);
        projected.addAll(asked);
        if (projected.stream().noneMatch(column -> column.contains("."))) {
            builder.projection(ColumnProjection.columns(projected.toArray(String[]::new)));
        }
        try (RowReader reader = builder.build()) {
            while (reader.hasNext()) {
                reader.next();
                List<Value> row = new ArrayList<>();
                for (int column = 0; column < columns.size(); column++) {
                    row.add(value(reader.getValue(columns.get(column)), nodes.get(column)));
                }
                rows.add(row);
            }
        }
        return rows;
    }

    /** The value of an object that the library made of a field. Unsigned integers and the text of an ENUM are left to us. */
    private static Value value(Object object, SchemaNode node) throws UnsupportedException {
        if (object instanceof PqList list) {
            SchemaNode element = node instanceof SchemaNode.GroupNode group && group.isList()
                    ? group.getListElement()
                    : node;
            List<Value> elements = new ArrayList<>();
            for (Object one : list.values()) {
                elements.add(value(one, element));
            }
            return new Value.Elements(elements);
        } else if (object instanceof PqMap map) {
            SchemaNode.GroupNode group = (SchemaNode.GroupNode) node;
            List<Map.Entry<Value, Value>> entries = new ArrayList<>();
            for (PqMap.Entry entry : map.getEntries()) {
                entries.add(Map.entry(
                        value(entry.getKey(), group.getMapKey()), value(entry.getValue(), group.getMapValue())));
            }
            return new Value.Entries(entries);
        } else if (object instanceof PqStruct struct) {
            Map<String, Value> members = new LinkedHashMap<>();
            for (SchemaNode child : ((SchemaNode.GroupNode) node).children()) {
                members.put(child.name(), value(struct.getValue(child.name()), child));
            }
            return new Value.Struct(members);
        } else if (object instanceof PqVariant variant) {
            return new Value.Struct(Map.of(
                    "metadata", new Value.Bytes(variant.metadata()), "value", new Value.Bytes(variant.value())));
        } else if (object instanceof PqInterval interval) {
            ByteBuffer bytes = ByteBuffer.allocate(3 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt((int) interval.months()).putInt((int) interval.days()).putInt((int) interval.milliseconds());
            return new Value.Bytes(bytes.array());
        } else if (node instanceof SchemaNode.PrimitiveNode leaf
                && leaf.logicalType() instanceof LogicalType.IntType type
                && !type.isSigned()
                && object instanceof Number number) {
            return Value.Whole.unsigned(number.longValue(), type.bitWidth());
        } else if (node instanceof SchemaNode.PrimitiveNode leaf
                && leaf.logicalType() instanceof LogicalType.EnumType
                && object instanceof byte[] text) {
            return new Value.Text(new String(text, StandardCharsets.UTF_8));
        }
        return JavaValues.of(object);
    }
}
