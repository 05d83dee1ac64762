package parquetjava;

import conformance.UnsupportedException;
import conformance.Value;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.BadConfigurationException;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/**
 * Reads a file's rows with parquet-java's {@code ParquetReader} and its settings: further ones, such as filters, by
 * the methods of its builder.
 */
public final class GroupReader extends ParquetReader.Builder<Group> {
    private final ReadSupport<Group> readSupport;

    private GroupReader(Path file, ReadSupport<Group> readSupport) {
        super(new LocalInputFile(file), new PlainParquetConfiguration());
        this.readSupport = readSupport;
    }

    /** Reads all columns. */
    public GroupReader(Path file) {
        this(file, new GroupReadSupport());
    }

    /** Reads these columns alone: the projection that the library is asked for. */
    public GroupReader(Path file, Set<String> columns) {
        this(file, new Projection(columns));
    }

    @Override
    protected ReadSupport<Group> getReadSupport() {
        return readSupport;
    }

    /**
     * All rows, each with one value for each of these columns.
     *
     * @throws UnsupportedException the library says that it lacks the codec
     */
    public List<List<Value>> rows(List<String> wanted) throws IOException, UnsupportedException {
        List<List<Value>> rows = new ArrayList<>();
        try (ParquetReader<Group> reader = build()) {
            for (Group group = reader.read(); group != null; group = reader.read()) {
                List<Value> row = new ArrayList<>();
                for (String column : wanted) {
                    row.add(GroupValues.value(group, group.getType().getFieldIndex(column)));
                }
                rows.add(row);
            }
        } catch (ParquetDecodingException refusal) {
            if (refusal.getCause() instanceof BadConfigurationException lacking) {
                throw new UnsupportedException(lacking.getMessage());
            }
            throw refusal;
        }
        return rows;
    }

    /**
     * Takes the columns out of the file's schema.
     *
     * <p>The library's own way, a projection as text, has no words for names with spaces.
     */
    private static final class Projection extends GroupReadSupport {
        private final Set<String> columns;

        Projection(Set<String> columns) {
            this.columns = columns;
        }

        @Override
        public ReadContext init(
                ParquetConfiguration configuration, Map<String, String> keyValues, MessageType fileSchema) {
            List<Type> types = fileSchema.getFields().stream()
                    .filter(type -> columns.contains(type.getName()))
                    .toList();
            return new ReadContext(new MessageType(fileSchema.getName(), types));
        }
    }
}
