//! Values of Arrow arrays, for libraries that read Parquet into them.
//!
//! The protocol asks for the value that the Parquet type says, and Arrow types say a little less (an ENUM is read as
//! bytes) or more (a schema that the writer left in the file turns INT64 into a duration). So each column has a
//! [`Shape`], which keeps what the Parquet schema says about its leaves.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType,
    IntervalMonthDayNanoType, IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, IntervalUnit, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::basic::{ConvertedType, LogicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::decimal::Decimal;
use crate::protocol::{Refusal, Rows};
use crate::value::Value;

const MILLISECONDS_A_DAY: i64 = 86_400_000;

/// What the Parquet schema says about a column that its Arrow type does not.
#[derive(Clone, Debug)]
pub enum Shape {
    Leaf(Leaf),
    List(Box<Shape>),
    Map(Box<Shape>, Box<Shape>),
    Struct(Vec<(String, Shape)>),
}

/// The values of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Whole numbers, whatever the Arrow type makes of them.
    Plain,
    /// ENUM: bytes that are text.
    Text,
    /// What the Arrow type says.
    Annotated,
}

impl Shape {
    /// The shape of each top-level column.
    pub fn of_columns(arrow: &Schema, parquet: &SchemaDescriptor) -> Vec<Shape> {
        let leaves_of = |root| {
            let ours = (0..parquet.num_columns()).filter(move |&leaf| parquet.get_column_root_idx(leaf) == root);
            ours.map(|leaf| Leaf::of(&parquet.column(leaf)))
        };
        let fields = arrow.fields().iter().enumerate();
        fields.map(|(root, field)| Shape::of(field.data_type(), &mut leaves_of(root))).collect()
    }

    /// The shape of a type whose leaves are the next ones of `leaves`.
    fn of(data_type: &DataType, leaves: &mut impl Iterator<Item = Leaf>) -> Shape {
        match data_type {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _) => Shape::List(Box::new(Shape::of(item.data_type(), leaves))),
            DataType::Map(entries, _) => match Shape::of(entries.data_type(), leaves) {
                Shape::Struct(mut members) if members.len() == 2 => {
                    let (_, value) = members.remove(1);
                    let (_, key) = members.remove(0);
                    Shape::Map(Box::new(key), Box::new(value))
                }
                other => other,
            },
            DataType::Struct(fields) => {
                let members = fields.iter().map(|field| (field.name().clone(), Shape::of(field.data_type(), leaves)));
                Shape::Struct(members.collect())
            }
            _ => Shape::Leaf(leaves.next().unwrap_or(Leaf::Annotated)),
        }
    }

    pub fn is_nested(&self) -> bool {
        !matches!(self, Shape::Leaf(_))
    }
}

impl Leaf {
    fn of(column: &ColumnDescriptor) -> Leaf {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Enum), _) | (None, ConvertedType::ENUM) => Leaf::Text,
            (None, ConvertedType::NONE) => Leaf::Plain,
            _ => Leaf::Annotated,
        }
    }
}

/// Some top-level columns of a file: which leaves to read, and how to get rows from what is read.
pub struct Projection {
    /// The leaves to read.
    pub mask: ProjectionMask,
    /// For each column that was asked for, its place among those that are read, and its shape.
    columns: Vec<(usize, Shape)>,
}

impl Projection {
    /// The projection to the columns of these names, in this order.
    ///
    /// # Errors
    ///
    /// A refusal if there is no such column.
    pub fn new(arrow: &Schema, parquet: &SchemaDescriptor, names: &[String]) -> Result<Self, Refusal> {
        let shapes = Shape::of_columns(arrow, parquet);
        let root =
            |name: &String| arrow.index_of(name).map_err(|_| Refusal::rejected(format!("there is no column {name}")));
        let roots: Vec<usize> = names.iter().map(root).collect::<Result<_, _>>()?;
        let place = |root: usize| (0..root).filter(|other| roots.contains(other)).count();
        Ok(Projection {
            mask: ProjectionMask::roots(parquet, roots.iter().copied()),
            columns: roots.iter().map(|&root| (place(root), shapes[root].clone())).collect(),
        })
    }

    /// The rows of a batch that was read with the mask.
    ///
    /// # Errors
    ///
    /// A refusal if a value cannot be said.
    pub fn rows(&self, batch: &RecordBatch) -> Result<Rows, Refusal> {
        let mut rows = vec![Vec::with_capacity(self.columns.len()); batch.num_rows()];
        for (place, shape) in &self.columns {
            let column = values(batch.column(*place), shape)?;
            rows.iter_mut().zip(column).for_each(|(row, value)| row.push(value));
        }
        Ok(rows)
    }
}

/// The values of an array, one for each of its entries.
///
/// # Errors
///
/// A refusal if the array has a type that no Parquet file has, or holds text that is not UTF-8.
pub fn values(array: &dyn Array, shape: &Shape) -> Result<Vec<Value>, Refusal> {
    match shape {
        Shape::Leaf(leaf) => leaf_values(array, *leaf),
        Shape::List(item) => lists(array, item),
        Shape::Map(key, value) => {
            let maps = array.as_map();
            let pairs = |entry: usize| {
                let entries = maps.value(entry);
                let (keys, items) = (values(entries.column(0), key)?, values(entries.column(1), value)?);
                Ok(Value::Map(keys.into_iter().zip(items).collect()))
            };
            valid(array, pairs)
        }
        Shape::Struct(members) => {
            let structs = array.as_struct();
            let mut columns = members
                .iter()
                .zip(structs.columns())
                .map(|((name, shape), column)| Ok((name, values(column, shape)?.into_iter())))
                .collect::<Result<Vec<_>, Refusal>>()?;
            let mut next = || {
                let members = columns.iter_mut().map(|(name, column)| (name.clone(), column.next()));
                Value::Struct(members.map(|(name, value)| (name, value.unwrap_or(Value::Null))).collect())
            };
            let every: Vec<Value> = (0..array.len()).map(|_| next()).collect();
            Ok(every.into_iter().enumerate().map(|(at, value)| or_null(array, at, value)).collect())
        }
    }
}

/// The value of each entry that is not null.
fn valid(array: &dyn Array, value: impl Fn(usize) -> Result<Value, Refusal>) -> Result<Vec<Value>, Refusal> {
    (0..array.len()).map(|entry| if array.is_null(entry) { Ok(Value::Null) } else { value(entry) }).collect()
}

fn or_null(array: &dyn Array, entry: usize, value: Value) -> Value {
    if array.is_null(entry) { Value::Null } else { value }
}

fn lists(array: &dyn Array, item: &Shape) -> Result<Vec<Value>, Refusal> {
    valid(array, |entry| {
        let items = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().value(entry),
            DataType::LargeList(_) => array.as_list::<i64>().value(entry),
            DataType::ListView(_) => array.as_list_view::<i32>().value(entry),
            DataType::LargeListView(_) => array.as_list_view::<i64>().value(entry),
            _ => array.as_fixed_size_list().value(entry),
        };
        Ok(Value::List(values(&items, item)?))
    })
}

fn leaf_values(array: &dyn Array, leaf: Leaf) -> Result<Vec<Value>, Refusal> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let plain = leaf == Leaf::Plain;
    Ok(match array.data_type() {
        DataType::Null => vec![Value::Null; array.len()],
        DataType::Boolean => array.as_boolean().iter().map(|value| value.map_or(Value::Null, Value::Bool)).collect(),
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => each::<Float16Type>(array, |value| Value::Float(value.into())),
        DataType::Float32 => each::<Float32Type>(array, |value| Value::Float(value.into())),
        DataType::Float64 => each::<Float64Type>(array, Value::Float),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => decimals::<Decimal256Type>(array, *scale),
        DataType::Date32 => each::<Date32Type>(array, |days| Value::Date(days.into())),
        DataType::Date64 if plain => integers::<Date64Type>(array),
        DataType::Date64 => each::<Date64Type>(array, |time| Value::Date(time.div_euclid(MILLISECONDS_A_DAY))),
        DataType::Time32(Second) => instants::<Time32SecondType>(array, plain, Value::Time, 1_000_000_000),
        DataType::Time32(_) => instants::<Time32MillisecondType>(array, plain, Value::Time, 1_000_000),
        DataType::Time64(Microsecond) => instants::<Time64MicrosecondType>(array, plain, Value::Time, 1000),
        DataType::Time64(_) => instants::<Time64NanosecondType>(array, plain, Value::Time, 1),
        DataType::Timestamp(Second, _) => {
            instants::<TimestampSecondType>(array, plain, Value::Timestamp, 1_000_000_000)
        }
        DataType::Timestamp(Millisecond, _) => {
            instants::<TimestampMillisecondType>(array, plain, Value::Timestamp, 1_000_000)
        }
        DataType::Timestamp(Microsecond, _) => {
            instants::<TimestampMicrosecondType>(array, plain, Value::Timestamp, 1000)
        }
        // INT96 has no annotation either, and is always a timestamp.
        DataType::Timestamp(Nanosecond, _) => instants::<TimestampNanosecondType>(array, false, Value::Timestamp, 1),
        DataType::Duration(Second) => integers::<DurationSecondType>(array),
        DataType::Duration(Millisecond) => integers::<DurationMillisecondType>(array),
        DataType::Duration(Microsecond) => integers::<DurationMicrosecondType>(array),
        DataType::Duration(Nanosecond) => integers::<DurationNanosecondType>(array),
        DataType::Interval(unit) => intervals(array, *unit),
        DataType::Utf8 => array.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(text).collect(),
        DataType::Binary => bytes(array.as_binary::<i32>().iter(), leaf)?,
        DataType::LargeBinary => bytes(array.as_binary::<i64>().iter(), leaf)?,
        DataType::BinaryView => bytes(array.as_binary_view().iter(), leaf)?,
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().iter(), leaf)?,
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let (keys, entries) = (dictionary.keys(), leaf_values(dictionary.values(), leaf)?);
            let entry = |key| match key {
                Value::Int(key) => entries[key as usize].clone(),
                other => other,
            };
            leaf_values(keys, Leaf::Annotated)?.into_iter().map(entry).collect()
        }
        other => return Err(Refusal::unsupported(format!("Arrow type {other}"))),
    })
}

fn each<T: ArrowPrimitiveType>(array: &dyn Array, value: impl Fn(T::Native) -> Value) -> Vec<Value> {
    array.as_primitive::<T>().iter().map(|entry| entry.map_or(Value::Null, &value)).collect()
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> Vec<Value> {
    each::<T>(array, |value| Value::Int(value.into()))
}

/// Times of a number of nanoseconds, or the numbers themselves where the Parquet type says no more.
fn instants<T: ArrowPrimitiveType<Native: Into<i128>>>(
    array: &dyn Array,
    plain: bool,
    value: fn(i128) -> Value,
    nanoseconds: i128,
) -> Vec<Value> {
    if plain {
        return integers::<T>(array);
    }
    each::<T>(array, |time| value(time.into() * nanoseconds))
}

fn decimals<T: ArrowPrimitiveType<Native: std::fmt::Display>>(array: &dyn Array, scale: i8) -> Vec<Value> {
    each::<T>(array, |value| Value::Decimal(Decimal::from_unscaled(&value.to_string(), scale.into())))
}

/// INTERVAL is three numbers of 32 bits: months, days and milliseconds. Arrow types hold some of them.
fn intervals(array: &dyn Array, unit: IntervalUnit) -> Vec<Value> {
    let parts = |months: i32, days: i32, milliseconds: i32| {
        Value::Bytes([months, days, milliseconds].iter().flat_map(|part| part.to_le_bytes()).collect())
    };
    match unit {
        IntervalUnit::YearMonth => each::<IntervalYearMonthType>(array, |months| parts(months, 0, 0)),
        IntervalUnit::DayTime => each::<IntervalDayTimeType>(array, |value| parts(0, value.days, value.milliseconds)),
        IntervalUnit::MonthDayNano => each::<IntervalMonthDayNanoType>(array, |value| {
            parts(value.months, value.days, (value.nanoseconds / 1_000_000) as i32)
        }),
    }
}

fn text(entry: Option<&str>) -> Value {
    entry.map_or(Value::Null, |entry| Value::Text(entry.to_owned()))
}

fn bytes<'a>(entries: impl Iterator<Item = Option<&'a [u8]>>, leaf: Leaf) -> Result<Vec<Value>, Refusal> {
    let value = |entry: &[u8]| match leaf {
        Leaf::Text => String::from_utf8(entry.to_vec())
            .map(Value::Text)
            .map_err(|error| Refusal::rejected(format!("an ENUM is not UTF-8: {error}"))),
        _ => Ok(Value::Bytes(entry.to_vec())),
    };
    entries.map(|entry| entry.map_or(Ok(Value::Null), value)).collect()
}

impl From<ParquetError> for Refusal {
    /// What is not yet implemented is unsupported; everything else is refused.
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::NYI(reason) => Refusal::unsupported(reason),
            other => Refusal::raised(&other),
        }
    }
}

impl From<ArrowError> for Refusal {
    /// See the errors of Parquet, which a reader of batches turns into these.
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::NotYetImplemented(reason) => Refusal::unsupported(reason),
            ArrowError::ParquetError(text) if text.starts_with("NYI: ") => Refusal::unsupported(text),
            other => Refusal::raised(&other),
        }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Refusal::raised(&error)
    }
}
