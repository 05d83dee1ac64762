//! What the page index and the bloom filters of a column say.

use std::fs::File;
use std::path::Path;

use driver_protocol::protocol::Refusal;
use driver_protocol::value::{Value, hexadecimal};
use parquet::basic::BoundaryOrder;
use parquet::data_type::AsBytes;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::schema::types::SchemaDescriptor;
use serde_json::{Map, Value as Json, json};

use crate::hashing;
use crate::scanning::Builder;

/// The value of a `decode` of the page index.
pub fn page_index(file: &Path, column: &str) -> Result<Json, Refusal> {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = reader.parse_and_finish(&File::open(file)?)?;
    let leaf = leaf_of(metadata.file_metadata().schema_descr(), column)?;
    let row_group = |number| {
        let index = metadata.page_index_for_row_group(number);
        let mut members = Map::new();
        if let Some(index) = index.column_index(leaf) {
            members.insert("column_index".into(), column_index(index));
        }
        if let Some(index) = index.offset_index(leaf) {
            members.insert("offset_index".into(), offset_index(index));
        }
        Json::Object(members)
    };
    let row_groups: Vec<Json> = (0..metadata.num_row_groups()).map(row_group).collect();
    Ok(json!({"row_groups": row_groups}))
}

/// The value of a `decode` of bloom filters.
pub fn bloom_filters(file: &Path, column: &str, probes: &[Value]) -> Result<Json, Refusal> {
    let builder = Builder::try_new(File::open(file)?)?;
    let leaf = leaf_of(builder.parquet_schema(), column)?;
    let descriptor = builder.parquet_schema().column(leaf);
    let row_group = |number| {
        Ok(match builder.get_row_group_column_bloom_filter(number, leaf)? {
            None => json!({}),
            Some(filter) => {
                let held: Vec<bool> =
                    probes.iter().map(|probe| hashing::may_hold(&filter, probe, &descriptor)).collect();
                json!({"size": filter.num_blocks() * 32, "held": held})
            }
        })
    };
    let row_groups = (0..builder.metadata().num_row_groups()).map(row_group).collect::<Result<Vec<_>, Refusal>>()?;
    Ok(json!({"row_groups": row_groups}))
}

/// The number of the leaf of this path.
fn leaf_of(schema: &SchemaDescriptor, path: &str) -> Result<usize, Refusal> {
    let found = schema.columns().iter().position(|column| column.path().string() == path);
    found.ok_or_else(|| Refusal::rejected(format!("there is no column {path}")))
}

fn offset_index(index: &OffsetIndexMetaData) -> Json {
    let locations = index.page_locations().iter();
    let locations: Vec<Json> =
        locations.map(|page| json!([page.offset, page.compressed_page_size, page.first_row_index])).collect();
    json!({"page_locations": locations})
}

/// The bounds arrive typed, and are written again as the file holds them.
fn column_index(index: &ColumnIndexMetaData) -> Json {
    let (mins, maxes) = match index {
        ColumnIndexMetaData::BOOLEAN(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::INT32(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::INT64(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::INT96(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::FLOAT(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::DOUBLE(typed) => (plain(typed.min_values_iter()), plain(typed.max_values_iter())),
        ColumnIndexMetaData::BYTE_ARRAY(typed) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(typed) => {
            (plain(typed.min_values_iter()), plain(typed.max_values_iter()))
        }
    };
    let pages = usize::try_from(index.num_pages()).unwrap_or(usize::MAX);
    let null_pages: Vec<bool> = (0..pages).map(|page| index.is_null_page(page)).collect();
    let mut members = Map::new();
    members.insert("null_pages".into(), json!(null_pages));
    members.insert("min_values".into(), mins);
    members.insert("max_values".into(), maxes);
    members.insert("boundary_order".into(), json!(index.get_boundary_order().map(boundary_order)));
    members.insert("null_counts".into(), json!(index.null_counts()));
    members.insert("nan_counts".into(), json!(index.nan_counts()));
    members.retain(|_, member| !member.is_null());
    Json::Object(members)
}

/// The number that the file holds for an order of pages.
fn boundary_order(order: BoundaryOrder) -> i32 {
    match order {
        BoundaryOrder::UNORDERED => 0,
        BoundaryOrder::ASCENDING => 1,
        BoundaryOrder::DESCENDING => 2,
    }
}

fn plain<'a, T: AsBytes + ?Sized + 'a>(bounds: impl Iterator<Item = Option<&'a T>>) -> Json {
    bounds.map(|bound| bound.map_or(Json::Null, |bound| json!({"bytes": hexadecimal(bound.as_bytes())}))).collect()
}
