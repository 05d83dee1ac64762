//! Literals as a bloom filter hashes them: in the physical type of the column, plainly encoded.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use driver_protocol::value::Value;
use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::bloom_filter::Sbbf;
use parquet::schema::types::ColumnDescriptor;

/// Whether a filter may hold a literal. Both signs of a zero are looked up.
pub fn may_hold(filter: &Sbbf, literal: &Value, column: &ColumnDescriptor) -> bool {
    match literal {
        Value::Float(zero) if *zero == 0.0 => {
            [0.0, -0.0].iter().any(|zero| held(filter, &Value::Float(*zero), column))
        }
        _ => held(filter, literal, column),
    }
}

/// Whether a filter holds the literal. True for what this column's type cannot say: then the filter knows nothing.
fn held(filter: &Sbbf, literal: &Value, column: &ColumnDescriptor) -> bool {
    match (column.physical_type(), literal) {
        (Type::FLOAT, Value::Float(value)) => filter.check(&(*value as f32)),
        (Type::DOUBLE, Value::Float(value)) => filter.check(value),
        (Type::FLOAT | Type::DOUBLE, Value::Int(value)) => may_hold(filter, &Value::Float(*value as f64), column),
        (Type::INT32, _) => whole(literal, column).is_none_or(|value| filter.check(&(value as i32))),
        (Type::INT64, _) => whole(literal, column).is_none_or(|value| filter.check(&(value as i64))),
        (Type::BYTE_ARRAY, Value::Text(text)) => filter.check(text.as_str()),
        (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, Value::Bytes(bytes)) => filter.check(bytes.as_slice()),
        (Type::FIXED_LEN_BYTE_ARRAY, Value::Float(value)) => {
            let half = <Float16Type as ArrowPrimitiveType>::Native::from_f64(*value);
            filter.check(&half.to_le_bytes()[..])
        }
        (Type::FIXED_LEN_BYTE_ARRAY, Value::Decimal(_)) => whole(literal, column).is_none_or(|value| {
            let mut bytes = [if value < 0 { 0xff } else { 0 }; 32];
            bytes[16..].copy_from_slice(&value.to_be_bytes());
            let length = usize::try_from(column.type_length()).unwrap_or(0);
            filter.check(&bytes[32 - length..])
        }),
        _ => true,
    }
}

/// The whole number that a column of INT32, INT64 or DECIMAL stores for the literal, if it stores it at all.
fn whole(literal: &Value, column: &ColumnDescriptor) -> Option<i128> {
    let stored = |nanoseconds: i128, unit: TimeUnit| {
        let parts = match unit {
            TimeUnit::MILLIS => 1_000_000,
            TimeUnit::MICROS => 1000,
            TimeUnit::NANOS => 1,
        };
        (nanoseconds % parts == 0).then_some(nanoseconds / parts)
    };
    match (literal, column.logical_type_ref()) {
        (Value::Int(value), _) => Some(*value),
        (Value::Date(days), _) => Some((*days).into()),
        (Value::Time(value), Some(LogicalType::Time(time))) => stored(*value, time.unit),
        (Value::Timestamp(value), Some(LogicalType::Timestamp(timestamp))) => stored(*value, timestamp.unit),
        (Value::Decimal(decimal), _) => decimal.unscaled(usize::try_from(column.type_scale()).ok()?)?.parse().ok(),
        _ => None,
    }
}
