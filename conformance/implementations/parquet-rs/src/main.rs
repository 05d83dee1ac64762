//! A driver of the crate `parquet`, the Rust implementation of Parquet that `DataFusion` and many others read with.
//!
//! The crate offers what skipping needs (bounds as arrays, bloom filters, row selections, row filters), and leaves it
//! to the engine to decide what to skip. That decision is made here, in [`pruning`], by the simplest right code.

mod arrays;
mod decoding;
mod encoding;
mod hashing;
mod pruning;
mod scanning;
mod type_names;
mod wishes;

use std::path::Path;
use std::process::ExitCode;

use driver_protocol::protocol::{Driver, Found, Hello, Query, Refusal, Rows, Writing};
use driver_protocol::serve;
use driver_protocol::value::Value;
use parquet::file::properties::DEFAULT_CREATED_BY;
use serde_json::Value as Json;

struct ParquetRs;

/// What the documentation of the crate promises. Not named: INTERVAL, of which it reads two parts of three.
const CAPABILITIES: &[&str] = &[
    "parquet",
    "read",
    "pqf.scan",
    "sta.scan",
    "pix.scan",
    "blm.scan",
    "idx1.scan",
    "dir.scan",
    "pix.decode",
    "blm.decode",
    "pqf.encode",
    "sta.encode",
    "pix.encode",
    "blm.encode",
    "type.unsigned",
    "type.decimal",
    "type.date",
    "type.time",
    "type.timestamp",
    "type.timestamp-nanos",
    "type.int96",
    "type.float16",
    "type.uuid",
    "type.fixed",
    "type.enum",
    "type.json",
    "type.bson",
    "type.geometry",
    "type.variant",
    "type.unknown",
    "nested",
    "nested.map",
    "codec.snappy",
    "codec.gzip",
    "codec.zstd",
    "codec.lz4",
    "codec.lz4-raw",
    "codec.brotli",
    "order.ieee754",
    "order.int96",
];

impl Driver for ParquetRs {
    fn hello(&self) -> Hello {
        Hello {
            name: "parquet-rs",
            version: DEFAULT_CREATED_BY.rsplit(' ').next().unwrap_or_default(),
            capabilities: CAPABILITIES.to_vec(),
            nan: "unordered",
            zeros: "equal",
            index_off: false,
            raises: vec![],
        }
    }

    fn read(&self, file: &Path, columns: &[String]) -> Result<Rows, Refusal> {
        scanning::every_row(file, columns)
    }

    fn scan(&self, family: &str, file: &Path, query: &Query) -> Result<Found, Refusal> {
        let rows =
            if query.index { scanning::with_index(file, query)? } else { scanning::without_index(file, query)? };
        Ok(Found { rows, ignored_index: matches!(family, "IDX1" | "DIR") })
    }

    fn decode(&self, family: &str, file: &Path, column: &str, probes: &[Value]) -> Result<Json, Refusal> {
        match family {
            "PIX" => decoding::page_index(file, column),
            "BLM" => decoding::bloom_filters(file, column, probes),
            _ => Err(Refusal::UnknownOperation),
        }
    }

    fn encode(&self, writing: &Writing) -> Result<(), Refusal> {
        match writing.family {
            "PQF" | "STA" | "PIX" | "BLM" => encoding::write(writing),
            _ => Err(Refusal::UnknownOperation),
        }
    }
}

fn main() -> ExitCode {
    serve::run(&ParquetRs)
}
