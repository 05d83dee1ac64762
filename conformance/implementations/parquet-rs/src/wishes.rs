//! Wishes of a request to write, as properties of the crate's writer. What is not wished stays at its default.

use driver_protocol::protocol::{Refusal, Writing};
use parquet::basic::BrotliLevel;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::SchemaDescriptor;
use serde_json::{Map, Value as Json};

/// The properties that fulfil the wishes.
///
/// # Errors
///
/// Unsupported, with its name, for a wish that the writer cannot fulfil.
pub fn properties(writing: &Writing, schema: &SchemaDescriptor) -> Result<WriterProperties, Refusal> {
    let none = Map::new();
    let wishes = writing.wishes.as_object().unwrap_or(&none);
    let mut properties = WriterProperties::builder();
    for (name, wish) in wishes {
        let fulfilled = fulfil(properties, name, wish, schema);
        properties = fulfilled.ok_or_else(|| Refusal::unsupported(name))?;
    }
    properties = with_statistics(properties, wishes.get("statistics"), wishes.get("page_index"))?;
    if let ("BLM", None, Some(column)) = (writing.family, wishes.get("bloom_filter"), writing.column) {
        properties = with_bloom_filter(properties, column, schema);
    }
    Ok(properties.build())
}

fn fulfil(
    properties: WriterPropertiesBuilder,
    name: &str,
    wish: &Json,
    schema: &SchemaDescriptor,
) -> Option<WriterPropertiesBuilder> {
    let number = || wish.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
    Some(match name {
        // The writer looks at the limit after each batch of values only.
        "page_rows" => properties.set_data_page_row_count_limit(number()?).set_write_batch_size(number()?),
        "row_group_rows" => properties.set_max_row_group_row_count(Some(number()?)),
        "dictionary" => properties.set_dictionary_enabled(wish.as_bool()?),
        "bloom_filter" => {
            let columns = wish.as_array()?.iter().map(Json::as_str).collect::<Option<Vec<_>>>()?;
            columns.into_iter().fold(properties, |properties, column| with_bloom_filter(properties, column, schema))
        }
        "page_index" | "statistics" => properties,
        "sorting" => {
            let columns = wish.as_array()?.iter().map(|column| sorting_column(column, schema));
            properties.set_sorting_columns(Some(columns.collect::<Option<_>>()?))
        }
        "data_page_version" => properties.set_writer_version(match wish.as_u64()? {
            1 => WriterVersion::PARQUET_1_0,
            2 => WriterVersion::PARQUET_2_0,
            _ => return None,
        }),
        "codec" => properties.set_compression(match wish.as_str()? {
            "uncompressed" => Compression::UNCOMPRESSED,
            "snappy" => Compression::SNAPPY,
            "gzip" => Compression::GZIP(GzipLevel::default()),
            "zstd" => Compression::ZSTD(ZstdLevel::default()),
            "lz4_raw" => Compression::LZ4_RAW,
            "brotli" => Compression::BROTLI(BrotliLevel::default()),
            _ => return None,
        }),
        _ => return None,
    })
}

/// Statistics and page index are one property: bounds of pages are statistics of the finest level.
fn with_statistics(
    properties: WriterPropertiesBuilder,
    statistics: Option<&Json>,
    page_index: Option<&Json>,
) -> Result<WriterPropertiesBuilder, Refusal> {
    match (statistics.and_then(Json::as_bool), page_index.and_then(Json::as_bool)) {
        (Some(false), Some(true)) => Err(Refusal::unsupported("page_index without statistics")),
        (Some(false), index) => Ok(properties
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(index == Some(false))),
        (_, Some(false)) => {
            Ok(properties.set_statistics_enabled(EnabledStatistics::Chunk).set_offset_index_disabled(true))
        }
        (_, Some(true)) => Ok(properties.set_statistics_enabled(EnabledStatistics::Page)),
        (_, None) => Ok(properties),
    }
}

/// Bloom filters for each leaf of a top-level column.
fn with_bloom_filter(
    properties: WriterPropertiesBuilder,
    column: &str,
    schema: &SchemaDescriptor,
) -> WriterPropertiesBuilder {
    let leaves = schema.columns().iter().filter(|leaf| leaf.path().parts()[0] == column);
    leaves.fold(properties, |properties, leaf| properties.set_column_bloom_filter_enabled(leaf.path().clone(), true))
}

/// Nulls come last in rows that are wished to be sorted.
fn sorting_column(wish: &Json, schema: &SchemaDescriptor) -> Option<SortingColumn> {
    let (name, descending) = (wish["column"].as_str()?, wish["descending"] == true);
    let leaf = schema.columns().iter().position(|leaf| leaf.path().string() == name)?;
    Some(SortingColumn { column_idx: i32::try_from(leaf).ok()?, descending, nulls_first: false })
}
