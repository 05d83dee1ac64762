//! Arrow arrays of values, to be written.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, MapArray, NullArray, PrimitiveArray,
    StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType, Fields, TimeUnit};
use driver_protocol::protocol::Refusal;
use driver_protocol::value::Value;

/// The array of a type that holds these values.
///
/// # Errors
///
/// A refusal if a value does not fit the type.
pub fn array(data_type: &DataType, values: &[&Value]) -> Result<ArrayRef, Refusal> {
    use TimeUnit::{Microsecond, Millisecond};
    Ok(match data_type {
        DataType::Null => Arc::new(NullArray::new(values.len())),
        DataType::Boolean => Arc::new(BooleanArray::from(each(values, |value| match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        })?)),
        DataType::Int8 => integers::<Int8Type>(values)?,
        DataType::Int16 => integers::<Int16Type>(values)?,
        DataType::Int32 => integers::<Int32Type>(values)?,
        DataType::Int64 => integers::<Int64Type>(values)?,
        DataType::UInt8 => integers::<UInt8Type>(values)?,
        DataType::UInt16 => integers::<UInt16Type>(values)?,
        DataType::UInt32 => integers::<UInt32Type>(values)?,
        DataType::UInt64 => integers::<UInt64Type>(values)?,
        DataType::Float16 => primitives::<Float16Type>(values, |value| {
            float(value).map(<Float16Type as ArrowPrimitiveType>::Native::from_f64)
        })?,
        DataType::Float32 => primitives::<Float32Type>(values, |value| float(value).map(|value| value as f32))?,
        DataType::Float64 => primitives::<Float64Type>(values, float)?,
        DataType::Date32 => primitives::<Date32Type>(values, |value| match value {
            Value::Date(days) => i32::try_from(*days).ok(),
            _ => None,
        })?,
        DataType::Time32(_) => instants::<Time32MillisecondType>(values, 1_000_000)?,
        DataType::Time64(Microsecond) => instants::<Time64MicrosecondType>(values, 1000)?,
        DataType::Time64(_) => instants::<Time64NanosecondType>(values, 1)?,
        DataType::Timestamp(Millisecond, _) => instants::<TimestampMillisecondType>(values, 1_000_000)?,
        DataType::Timestamp(Microsecond, _) => instants::<TimestampMicrosecondType>(values, 1000)?,
        DataType::Timestamp(_, _) => instants::<TimestampNanosecondType>(values, 1)?,
        DataType::Decimal128(precision, scale) => {
            let unscaled = decimals(values, *scale, |digits| digits.parse().ok())?;
            let array = PrimitiveArray::<Decimal128Type>::from(unscaled);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Decimal256(precision, scale) => {
            let unscaled = decimals(values, *scale, i256::from_string)?;
            let array = PrimitiveArray::<Decimal256Type>::from(unscaled);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Utf8 => Arc::new(StringArray::from(each(values, |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })?)),
        DataType::Binary => Arc::new(BinaryArray::from(each(values, bytes)?)),
        DataType::FixedSizeBinary(length) => {
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(each(values, bytes)?.into_iter(), *length)?)
        }
        DataType::List(item) => {
            let lists = each(values, |value| match value {
                Value::List(items) => Some(items.as_slice()),
                _ => None,
            })?;
            let items: Vec<&Value> = lists.iter().flatten().flat_map(|items| items.iter()).collect();
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(|items| items.map_or(0, <[_]>::len)));
            let items = array(item.data_type(), &items)?;
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, Some(validity(values)))?)
        }
        DataType::Map(entries, sorted) => {
            let maps = each(values, |value| match value {
                Value::Map(entries) => Some(entries.as_slice()),
                _ => None,
            })?;
            let pairs: Vec<&(Value, Value)> = maps.iter().flatten().flat_map(|entries| entries.iter()).collect();
            let (keys, items): (Vec<&Value>, Vec<&Value>) = pairs.iter().map(|(key, item)| (key, item)).unzip();
            let offsets = OffsetBuffer::from_lengths(maps.iter().map(|entries| entries.map_or(0, <[_]>::len)));
            let DataType::Struct(fields) = entries.data_type() else { return Err(misfit()) };
            let columns = vec![array(fields[0].data_type(), &keys)?, array(fields[1].data_type(), &items)?];
            let pairs = StructArray::try_new(fields.clone(), columns, None)?;
            Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, Some(validity(values)), *sorted)?)
        }
        DataType::Struct(fields) => structs(fields, values)?,
        other => return Err(Refusal::unsupported(format!("type {other}"))),
    })
}

fn structs(fields: &Fields, values: &[&Value]) -> Result<ArrayRef, Refusal> {
    let structs = each(values, |value| match value {
        Value::Struct(members) => Some(members.as_slice()),
        _ => None,
    })?;
    let column = |name: &str| -> Vec<&Value> {
        structs
            .iter()
            .map(|members| match members.and_then(|m| m.iter().find(|(other, _)| other == name)) {
                Some((_, value)) => value,
                None => &Value::Null,
            })
            .collect()
    };
    let columns = fields.iter().map(|field| array(field.data_type(), &column(field.name())));
    Ok(Arc::new(StructArray::try_new_with_length(
        fields.clone(),
        columns.collect::<Result<_, _>>()?,
        Some(validity(values)),
        values.len(),
    )?))
}

/// What `native` makes of each value that is not null.
fn each<'a, T>(values: &[&'a Value], native: impl Fn(&'a Value) -> Option<T>) -> Result<Vec<Option<T>>, Refusal> {
    let one = |value: &&'a Value| if value.is_null() { Ok(None) } else { native(value).map(Some).ok_or_else(misfit) };
    values.iter().map(one).collect()
}

fn misfit() -> Refusal {
    Refusal::rejected("a value does not fit its column")
}

fn validity(values: &[&Value]) -> NullBuffer {
    values.iter().map(|value| !value.is_null()).collect()
}

fn primitives<'a, T: ArrowPrimitiveType>(
    values: &[&'a Value],
    native: impl Fn(&'a Value) -> Option<T::Native>,
) -> Result<ArrayRef, Refusal> {
    Ok(Arc::new(each(values, native)?.into_iter().collect::<PrimitiveArray<T>>()))
}

fn integers<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(values: &[&Value]) -> Result<ArrayRef, Refusal> {
    primitives::<T>(values, |value| match value {
        Value::Int(value) => T::Native::try_from(*value).ok(),
        _ => None,
    })
}

/// Times in a unit of a number of nanoseconds.
fn instants<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(
    values: &[&Value],
    nanoseconds: i128,
) -> Result<ArrayRef, Refusal> {
    primitives::<T>(values, |value| match value {
        Value::Time(time) | Value::Timestamp(time) if time % nanoseconds == 0 => {
            T::Native::try_from(time / nanoseconds).ok()
        }
        _ => None,
    })
}

fn decimals<T>(values: &[&Value], scale: i8, native: impl Fn(&str) -> Option<T>) -> Result<Vec<Option<T>>, Refusal> {
    each(values, |value| match value {
        Value::Decimal(decimal) => native(&decimal.unscaled(usize::try_from(scale).ok()?)?),
        _ => None,
    })
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Int(value) => Some(*value as f64),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        Value::Text(text) => Some(text.as_bytes()),
        _ => None,
    }
}
