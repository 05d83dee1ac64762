//! The names of types in requests to write, such as `decimal(9,2)` or `list<struct<x: int32>>`, as Arrow types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use driver_protocol::protocol::Refusal;

/// The Arrow type that the writer stores as the named type.
///
/// # Errors
///
/// Unsupported if the writer has none: INT96, ENUM, JSON and their like cannot be said in Arrow types.
pub fn arrow_type(name: &str) -> Result<DataType, Refusal> {
    let unsupported = || Refusal::unsupported(format!("type {name}"));
    if let Some((outer, inner)) = name.strip_suffix('>').and_then(|name| name.split_once('<')) {
        return nested(outer, inner)?.ok_or_else(unsupported);
    }
    if let Some((outer, inner)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        let numbers: Option<Vec<i32>> = inner.split(',').map(|number| number.trim().parse().ok()).collect();
        return with_numbers(outer, &numbers.unwrap_or_default()).ok_or_else(unsupported);
    }
    Ok(match name {
        "boolean" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "string" => DataType::Utf8,
        "binary" => DataType::Binary,
        "date" => DataType::Date32,
        "time_millis" => DataType::Time32(TimeUnit::Millisecond),
        "time_micros" => DataType::Time64(TimeUnit::Microsecond),
        "time_nanos" => DataType::Time64(TimeUnit::Nanosecond),
        "timestamp_millis" => DataType::Timestamp(TimeUnit::Millisecond, None),
        "timestamp_micros" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamp_nanos" => DataType::Timestamp(TimeUnit::Nanosecond, None),
        "unknown" => DataType::Null,
        _ => return Err(unsupported()),
    })
}

fn nested(outer: &str, inner: &str) -> Result<Option<DataType>, Refusal> {
    let parts = parts(inner);
    Ok(match (outer, parts.as_slice()) {
        ("list", [item]) => Some(DataType::new_list(arrow_type(item)?, true)),
        ("map", [key, value]) => {
            let fields = [Field::new("key", arrow_type(key)?, false), Field::new("value", arrow_type(value)?, true)];
            let entries = Field::new("key_value", DataType::Struct(Fields::from_iter(fields)), false);
            Some(DataType::Map(Arc::new(entries), false))
        }
        ("struct", members) => {
            let field = |member: &&str| match member.split_once(':') {
                Some((name, kind)) => Ok(Field::new(name.trim(), arrow_type(kind.trim())?, true)),
                None => Err(Refusal::unsupported(format!("struct member {member}"))),
            };
            Some(DataType::Struct(members.iter().map(field).collect::<Result<Fields, Refusal>>()?))
        }
        _ => None,
    })
}

fn with_numbers(outer: &str, numbers: &[i32]) -> Option<DataType> {
    match (outer, numbers) {
        ("fixed", [length]) => Some(DataType::FixedSizeBinary(*length)),
        ("decimal", [precision, scale]) => {
            let (precision, scale) = (u8::try_from(*precision).ok()?, i8::try_from(*scale).ok()?);
            Some(match precision {
                0..=38 => DataType::Decimal128(precision, scale),
                _ => DataType::Decimal256(precision, scale),
            })
        }
        _ => None,
    }
}

/// The parts between commas outside further brackets.
fn parts(inner: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, character) in inner.char_indices() {
        match character {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(inner[begin..at].trim());
                begin = at + 1;
            }
            _ => (),
        }
    }
    parts.push(inner[begin..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::arrow_type;

    #[test]
    fn names_are_types() {
        for (name, expected) in [
            ("list<list<int64>>", "List(List(Int64))"),
            (
                "map<string, decimal(9,2)>",
                "Map(\"key_value\": non-null Struct(\"key\": non-null Utf8, \"value\": Decimal128(9, 2)), unsorted)",
            ),
            ("struct<x: int32, y: list<string>>", "Struct(\"x\": Int32, \"y\": List(Utf8))"),
            ("decimal(40,2)", "Decimal256(40, 2)"),
            ("fixed(3)", "FixedSizeBinary(3)"),
        ] {
            assert_eq!(expected, arrow_type(name).unwrap().to_string());
        }
        for name in ["int96", "uuid", "list<", "list<enum>", "decimal(9)", "fixed(x)", "struct<x>"] {
            assert!(arrow_type(name).is_err(), "{name}");
        }
    }
}
