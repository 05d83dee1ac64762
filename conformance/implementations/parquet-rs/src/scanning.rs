//! Rows of a file: all of them, or those that satisfy a predicate, with or without the help of what the file says.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::BooleanArray;
use arrow_schema::ArrowError;
use driver_protocol::arrow_values::Projection;
use driver_protocol::predicate::Predicate;
use driver_protocol::protocol::{Query, Refusal, Rows};
use driver_protocol::value::Value;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::file::metadata::PageIndexPolicy;

use crate::pruning;

pub type Builder = ParquetRecordBatchReaderBuilder<File>;

/// All rows, read as the crate does by default: it leaves the page index aside.
pub fn every_row(file: &Path, columns: &[String]) -> Result<Rows, Refusal> {
    let builder = Builder::try_new(File::open(file)?)?;
    let projection = Projection::new(builder.schema(), builder.parquet_schema(), columns)?;
    rows(builder.with_projection(projection.mask.clone()), &projection)
}

/// The rows that satisfy a predicate, among all that the file holds.
pub fn without_index(file: &Path, query: &Query) -> Result<Rows, Refusal> {
    let asked = query.columns.len();
    let names: Vec<String> = query.columns.iter().cloned().chain(query.predicate.columns()).collect();
    let mut kept = Rows::new();
    for mut row in every_row(file, &names)? {
        if keeps(&query.predicate, &names[asked..], &row[asked..])? {
            row.truncate(asked);
            kept.push(row);
        }
    }
    Ok(kept)
}

/// The rows that satisfy a predicate, read with every help that the crate has: row groups and pages are left out by
/// what the file says about them, and the other columns are read only where the predicate is true.
pub fn with_index(file: &Path, query: &Query) -> Result<Rows, Refusal> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let builder = Builder::try_new_with_options(File::open(file)?, options)?;
    let projection = Projection::new(builder.schema(), builder.parquet_schema(), &query.columns)?;
    let names: Vec<String> = query.predicate.columns().into_iter().collect();
    let asked = Projection::new(builder.schema(), builder.parquet_schema(), &names)?;

    let plan = pruning::plan(&builder, &query.predicate)?;
    let builder = builder.with_row_groups(plan.row_groups).with_projection(projection.mask.clone());
    let builder = match plan.selection {
        Some(selection) => builder.with_row_selection(selection),
        None => builder,
    };

    // The filter may only fail with an error of Arrow, so a refusal of ours takes its own way out.
    let refused = Arc::new(Mutex::new(None));
    let (predicate, told) = (query.predicate.clone(), Arc::clone(&refused));
    let filter = ArrowPredicateFn::new(asked.mask.clone(), move |batch| {
        let truths = asked.rows(&batch).and_then(|rows| {
            rows.iter().map(|row| keeps(&predicate, &names, row)).collect::<Result<Vec<bool>, Refusal>>()
        });
        truths.map(BooleanArray::from).map_err(|refusal| {
            *told.lock().unwrap() = Some(refusal);
            ArrowError::ComputeError("refused".into())
        })
    });
    let found = rows(builder.with_row_filter(RowFilter::new(vec![Box::new(filter)])), &projection);
    match refused.lock().unwrap().take() {
        Some(refusal) => Err(refusal),
        None => found,
    }
}

fn rows(builder: Builder, projection: &Projection) -> Result<Rows, Refusal> {
    let mut rows = Rows::new();
    for batch in builder.build()? {
        rows.extend(projection.rows(&batch?)?);
    }
    Ok(rows)
}

fn keeps(predicate: &Predicate, names: &[String], row: &[Value]) -> Result<bool, Refusal> {
    let cell = |name: &str| {
        let place = names.iter().position(|other| other == name);
        place.map_or(&Value::Null, |place| &row[place])
    };
    Ok(predicate.truth(&cell)? == Some(true))
}
