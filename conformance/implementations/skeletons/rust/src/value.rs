//! Values: what a cell of a table holds, as JSON both ways, and how two of them compare.

use std::cmp::Ordering;

use serde_json::{Map, Value as Json, json};

use crate::decimal::Decimal;
use crate::protocol::Refusal;

/// The whole numbers that every reader of JSON keeps.
const EXACT: i128 = 1 << 53;

/// A value of the protocol's table of values.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    /// A whole number of any width, signed or not.
    Int(i128),
    /// FLOAT, DOUBLE and FLOAT16, widened to 64 bits.
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Decimal(Decimal),
    /// Days since 1970-01-01.
    Date(i64),
    /// Nanoseconds since midnight.
    Time(i128),
    /// Nanoseconds since 1970-01-01.
    Timestamp(i128),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Struct(Vec<(String, Value)>),
}

/// How a value compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    Ordered(Ordering),
    /// One of them is NaN, which equals nothing and is neither less nor greater.
    Unordered,
    /// Values of unlike types, or ones without an order, such as lists.
    Incomparable,
}

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The value as it is written in an answer.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Int(value) if value.abs() <= EXACT => json!(*value as i64),
            Value::Int(value) => json!({"int": value.to_string()}),
            Value::Float(value) => json!({"float": float_text(*value)}),
            Value::Text(value) => json!(value),
            Value::Bytes(value) => json!({"bytes": hexadecimal(value)}),
            Value::Decimal(value) => json!({"decimal": value.to_string()}),
            Value::Date(value) => json!({"date": value.to_string()}),
            Value::Time(value) => json!({"time": value.to_string()}),
            Value::Timestamp(value) => json!({"timestamp": value.to_string()}),
            Value::List(items) => json!({"list": items.iter().map(Value::to_json).collect::<Vec<_>>()}),
            Value::Map(entries) => {
                let pairs: Vec<Json> = entries.iter().map(|(k, v)| json!([k.to_json(), v.to_json()])).collect();
                json!({"map": pairs})
            }
            Value::Struct(members) => {
                let members: Map<String, Json> = members.iter().map(|(n, v)| (n.clone(), v.to_json())).collect();
                json!({"struct": members})
            }
        }
    }

    /// The value that a request holds.
    ///
    /// # Errors
    ///
    /// A refusal if it is not, since then the request is of a later protocol.
    pub fn from_json(written: &Json) -> Result<Value, Refusal> {
        let unknown = || Refusal::unsupported(format!("value {written}"));
        match written {
            Json::Null => Ok(Value::Null),
            Json::Bool(value) => Ok(Value::Bool(*value)),
            Json::String(value) => Ok(Value::Text(value.clone())),
            Json::Number(value) => value.as_i64().map(|value| Value::Int(value.into())).ok_or_else(unknown),
            Json::Object(members) => match members.iter().next() {
                Some((tag, content)) if members.len() == 1 => tagged(tag, content)?.ok_or_else(unknown),
                _ => Err(unknown()),
            },
            Json::Array(_) => Err(unknown()),
        }
    }

    /// How `self` compares with `other`: numbers by size whatever their type, text by code point, bytes by byte.
    pub fn compare(&self, other: &Value) -> Compared {
        use Value::{Bool, Bytes, Date, Decimal, Float, Int, Text, Time, Timestamp};
        Compared::Ordered(match (self, other) {
            (Bool(left), Bool(right)) => left.cmp(right),
            (Int(left), Int(right)) | (Time(left), Time(right)) | (Timestamp(left), Timestamp(right)) => {
                left.cmp(right)
            }
            (Date(left), Date(right)) => left.cmp(right),
            (Float(left), Float(right)) => return float_order(left.partial_cmp(right)),
            (Int(left), Float(right)) => return float_order(int_to_float(*left, *right)),
            (Float(left), Int(right)) => {
                return float_order(int_to_float(*right, *left).map(Ordering::reverse));
            }
            (Text(left), Text(right)) => left.cmp(right),
            (Bytes(left), Bytes(right)) => left.cmp(right),
            (Decimal(left), Decimal(right)) => left.cmp(right),
            (Decimal(left), Int(right)) => left.cmp(&crate::decimal::Decimal::from_unscaled(&right.to_string(), 0)),
            _ => return Compared::Incomparable,
        })
    }
}

/// The value of an object with one member, if there is a value of this tag and text.
fn tagged(tag: &str, content: &Json) -> Result<Option<Value>, Refusal> {
    if let Json::Array(items) = content {
        return match tag {
            "list" => Ok(Some(Value::List(items.iter().map(Value::from_json).collect::<Result<_, _>>()?))),
            "map" => items
                .iter()
                .map(|pair| Ok((Value::from_json(&pair[0])?, Value::from_json(&pair[1])?)))
                .collect::<Result<_, _>>()
                .map(|entries| Some(Value::Map(entries))),
            _ => Ok(None),
        };
    }
    if let ("struct", Json::Object(members)) = (tag, content) {
        let members: Result<Vec<_>, Refusal> =
            members.iter().map(|(name, value)| Ok((name.clone(), Value::from_json(value)?))).collect();
        return members.map(|members| Some(Value::Struct(members)));
    }
    let Some(text) = content.as_str() else { return Ok(None) };
    Ok(match tag {
        "int" => text.parse().ok().map(Value::Int),
        "float" => text.parse().ok().map(Value::Float),
        "bytes" => bytes(text).map(Value::Bytes),
        "decimal" => Decimal::parse(text).map(Value::Decimal),
        "date" => text.parse().ok().map(Value::Date),
        "time" => text.parse().ok().map(Value::Time),
        "timestamp" => text.parse().ok().map(Value::Timestamp),
        _ => None,
    })
}

/// The shortest decimal that reads back as the float.
fn float_text(value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".into(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.into(),
        _ => format!("{value:?}"),
    }
}

fn float_order(order: Option<Ordering>) -> Compared {
    order.map_or(Compared::Unordered, Compared::Ordered)
}

/// How a whole number compares with a float, without rounding it.
fn int_to_float(int: i128, float: f64) -> Option<Ordering> {
    if !float.is_finite() || float.abs() >= 2f64.powi(126) {
        return 0.0f64.partial_cmp(&float);
    }
    let whole = int.cmp(&(float.trunc() as i128));
    Some(whole.then(0.0f64.partial_cmp(&float.fract())?))
}

/// Two hexadecimal digits for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::{Compared, Ordering, Value};
    use serde_json::{Value as Json, json};

    fn read(written: &Json) -> Value {
        Value::from_json(written).unwrap()
    }

    #[test]
    fn what_is_read_is_written_again() {
        for written in [
            json!(null),
            json!(true),
            json!(-9_007_199_254_740_992_i64),
            json!({"int": "18446744073709551615"}),
            json!({"float": "-0.0"}),
            json!({"float": "nan"}),
            json!({"float": "-inf"}),
            json!({"float": "0.1"}),
            json!({"bytes": "00ff"}),
            json!({"decimal": "-1.50"}),
            json!({"list": [1, null, {"date": "19000"}]}),
            json!({"map": [["a", {"time": "1"}]]}),
            json!({"struct": {"x": {"timestamp": "-1"}}}),
        ] {
            assert_eq!(written, read(&written).to_json());
        }
        for written in [json!({"int": "x"}), json!({"bytes": "0"}), json!([1]), json!(1.5), json!({"new": "1"})] {
            assert!(Value::from_json(&written).is_err(), "{written}");
        }
    }

    #[test]
    fn values_compare_by_what_they_say() {
        let compare = |left: Json, right: Json| read(&left).compare(&read(&right));
        let (less, equal) = (Compared::Ordered(Ordering::Less), Compared::Ordered(Ordering::Equal));
        assert_eq!(equal, compare(json!({"float": "0.0"}), json!({"float": "-0.0"})));
        assert_eq!(Compared::Unordered, compare(json!({"float": "nan"}), json!(1)));
        assert_eq!(less, compare(json!({"int": "9007199254740993"}), json!({"float": "9007199254740994"})));
        assert_eq!(less, compare(json!(-1), json!({"float": "-0.5"})));
        assert_eq!(less, compare(json!(1), json!({"float": "inf"})));
        assert_eq!(less, compare(json!("\u{ffff}"), json!("\u{10000}")));
        assert_eq!(less, compare(json!({"bytes": "7f"}), json!({"bytes": "80"})));
        assert_eq!(Compared::Incomparable, compare(json!("1"), json!(1)));
    }
}
