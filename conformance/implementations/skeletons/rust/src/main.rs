//! A driver to begin with: it answers `hello` and `read` by the `parquet` crate.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use driver_protocol::arrow_values::Projection;
use driver_protocol::protocol::{Driver, Hello, Refusal, Rows};
use driver_protocol::serve;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

struct Template;

impl Driver for Template {
    fn hello(&self) -> Hello {
        Hello {
            name: "driver-template",
            version: env!("CARGO_PKG_VERSION"),
            // What is not named here is not asked. `PROTOCOL.md` lists the names.
            capabilities: vec!["parquet", "read", "nested", "type.date", "type.timestamp", "codec.snappy"],
            nan: "unordered",
            zeros: "equal",
            index_off: false,
            raises: vec![],
        }
    }

    fn read(&self, file: &Path, columns: &[String]) -> Result<Rows, Refusal> {
        // YOUR LIBRARY HERE: return the rows of the file, each with the values of these columns in this order, and
        // what your library refuses as a `Refusal`. Then add the other operations of the trait one by one.
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?;
        let projection = Projection::new(builder.schema(), builder.parquet_schema(), columns)?;
        let mut rows = Rows::new();
        for batch in builder.with_projection(projection.mask.clone()).build()? {
            rows.extend(projection.rows(&batch?)?);
        }
        Ok(rows)
    }
}

fn main() -> ExitCode {
    serve::run(&Template)
}
