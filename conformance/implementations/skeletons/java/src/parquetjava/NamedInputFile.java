package parquetjava;

import java.nio.file.Path;
import org.apache.parquet.io.LocalInputFile;

/** A local file whose name stands in the library's messages, which are therefore the same in every run. */
public final class NamedInputFile extends LocalInputFile {
    private final Path file;

    /** The file of this path. */
    public NamedInputFile(Path file) {
        super(file);
        this.file = file;
    }

    @Override
    public String toString() {
        return file.getFileName().toString();
    }
}
