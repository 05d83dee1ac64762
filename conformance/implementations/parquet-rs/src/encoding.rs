//! Rows written as a Parquet file by the crate's writer.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use driver_protocol::protocol::{Refusal, Writing};
use driver_protocol::value::Value;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};

use crate::{arrays, type_names, wishes};

/// Write the rows of a request. The file is there once it is whole.
pub fn write(writing: &Writing) -> Result<(), Refusal> {
    let fields = writing
        .columns
        .iter()
        .map(|column| Ok(Field::new(&column.name, type_names::arrow_type(&column.kind)?, column.nullable)));
    let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<_>, Refusal>>()?));
    let columns = schema.fields().iter().enumerate().map(|(place, field)| {
        let values: Vec<&Value> = writing.rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null)).collect();
        arrays::array(field.data_type(), &values)
    });
    let batch = RecordBatch::try_new_with_options(
        Arc::clone(&schema),
        columns.collect::<Result<_, _>>()?,
        &RecordBatchOptions::new().with_row_count(Some(writing.rows.len())),
    )?;
    let properties = wishes::properties(writing, &ArrowSchemaConverter::new().convert(&schema)?)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    Ok(put(writing.output, &writer.into_inner()?)?)
}

/// Put bytes into a file that is not there before it holds them all.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("partial");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(beside, path)
}
