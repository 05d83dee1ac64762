//! What a predicate need not look at: row groups and pages of which the file says that no row of theirs satisfies it.
//!
//! The crate returns bounds, counts and bloom filters, and this module believes them. It asks two questions of a part
//! of the predicate: can it be true for a row, and, below a `not`, can it be false?

use std::cmp::Ordering;

use arrow_array::UInt64Array;
use driver_protocol::arrow_values::{Shape, values};
use driver_protocol::predicate::{Comparison, Predicate};
use driver_protocol::protocol::Refusal;
use driver_protocol::value::{Compared, Value};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::arrow::parquet_column;

use crate::hashing;
use crate::scanning::Builder;

/// What is read.
pub struct Plan {
    pub row_groups: Vec<usize>,
    /// Rows of these row groups; all of them if there is none.
    pub selection: Option<RowSelection>,
}

/// What the file says about the values of a row group or a page in one column. What it does not say is null or none.
struct Claims {
    min: Value,
    max: Value,
    /// Whether the bounds are values, and not only below and above all values.
    exact: bool,
    nulls: Option<u64>,
    rows: Option<u64>,
}

/// The row groups and pages that a predicate may be true in.
pub fn plan(builder: &Builder, predicate: &Predicate) -> Result<Plan, Refusal> {
    let file = Claimed { builder, shapes: Shape::of_columns(builder.schema(), builder.parquet_schema()) };
    let mut plan = Plan { row_groups: Vec::new(), selection: None };
    let mut selected: Vec<RowSelector> = Vec::new();
    for (row_group, metadata) in builder.metadata().row_groups().iter().enumerate() {
        let kept = asked(predicate, true, &|part, wanted| file.row_group_may(part, wanted, row_group))?;
        if !kept.0 {
            continue;
        }
        plan.row_groups.push(row_group);
        let pages = asked(predicate, true, &|part, wanted| file.pages_that_may(part, wanted, row_group))?;
        match pages.0 {
            Some(selection) => selected.extend(selection.iter().copied()),
            None => selected.push(RowSelector::select(metadata.num_rows() as usize)),
        }
    }
    if selected.iter().any(|selector| selector.skip) {
        plan.selection = Some(selected.into());
    }
    Ok(plan)
}

/// An answer about parts of a predicate, and how the answers of two parts become one.
trait Answer: Sized {
    fn both(self, other: Self) -> Self;
    fn either(self, other: Self) -> Self;
}

/// Whether there may be such a row.
struct MayHold(bool);

/// The rows that may be such; all, if there is no selection.
struct RowsLeft(Option<RowSelection>);

impl Answer for MayHold {
    fn both(self, other: Self) -> Self {
        MayHold(self.0 && other.0)
    }

    fn either(self, other: Self) -> Self {
        MayHold(self.0 || other.0)
    }
}

impl Answer for RowsLeft {
    fn both(self, other: Self) -> Self {
        RowsLeft(match (self.0, other.0) {
            (Some(left), Some(right)) => Some(left.intersection(&right)),
            (left, right) => left.or(right),
        })
    }

    fn either(self, other: Self) -> Self {
        RowsLeft(self.0.zip(other.0).map(|(left, right)| left.union(&right)))
    }
}

/// Ask a question of the leaves of a predicate. `wanted` is the truth that it is asked for, which `not` turns round.
fn asked<A: Answer>(
    predicate: &Predicate,
    wanted: bool,
    leaf: &impl Fn(&Predicate, bool) -> Result<A, Refusal>,
) -> Result<A, Refusal> {
    let (parts, all_of_them) = match predicate {
        Predicate::Not(part) => return asked(part, !wanted, leaf),
        Predicate::And(parts) => (parts, wanted),
        Predicate::Or(parts) => (parts, !wanted),
        _ => return leaf(predicate, wanted),
    };
    let answers = parts.iter().map(|part| asked(part, wanted, leaf));
    let one = answers.reduce(|left, right| {
        let (left, right) = (left?, right?);
        Ok(if all_of_them { left.both(right) } else { left.either(right) })
    });
    one.unwrap_or_else(|| leaf(predicate, wanted))
}

/// A file of which claims are asked.
struct Claimed<'a> {
    builder: &'a Builder,
    shapes: Vec<Shape>,
}

impl Claimed<'_> {
    /// The converter of the claims about a column; none for nested ones, which the crate has none for.
    fn converter(&self, column: &str) -> Result<Option<(StatisticsConverter<'_>, &Shape)>, Refusal> {
        let (arrow, parquet) = (self.builder.schema(), self.builder.parquet_schema());
        if parquet_column(parquet, arrow, column).is_none() {
            return Ok(None);
        }
        let orders = self.builder.metadata().file_metadata().column_orders().map(Vec::as_slice);
        let converter = StatisticsConverter::try_new(column, arrow, parquet)?.with_column_orders(orders);
        Ok(arrow.index_of(column).ok().map(|root| (converter, &self.shapes[root])))
    }

    fn row_group_may(&self, leaf: &Predicate, wanted: bool, row_group: usize) -> Result<MayHold, Refusal> {
        let Some((converter, shape)) = self.converter(column_of(leaf))? else { return Ok(MayHold(true)) };
        let claims = self.row_group_claims(&converter, shape, row_group)?;
        if !may_be(leaf, wanted, &claims) {
            return Ok(MayHold(false));
        }
        let literals: Vec<&Value> = match leaf {
            Predicate::Compare { comparison: Comparison::Equal, literal, .. } if wanted => vec![literal],
            Predicate::In { literals, .. } if wanted => literals.iter().collect(),
            _ => return Ok(MayHold(true)),
        };
        let Some(leaf_number) = converter.parquet_column_index() else { return Ok(MayHold(true)) };
        let Some(filter) = self.builder.get_row_group_column_bloom_filter(row_group, leaf_number)? else {
            return Ok(MayHold(true));
        };
        let column = self.builder.parquet_schema().column(leaf_number);
        let may_equal =
            |literal: &&Value| may_be_equal(literal, &claims) && hashing::may_hold(&filter, literal, &column);
        Ok(MayHold(literals.iter().any(may_equal)))
    }

    fn row_group_claims(
        &self,
        converter: &StatisticsConverter,
        shape: &Shape,
        row_group: usize,
    ) -> Result<Claims, Refusal> {
        let this = [self.builder.metadata().row_group(row_group)];
        let exact = [converter.row_group_is_min_value_exact(this)?, converter.row_group_is_max_value_exact(this)?];
        let count = |counts: UInt64Array| counts.iter().next().flatten();
        Ok(Claims {
            min: values(&converter.row_group_mins(this)?, shape)?.remove(0),
            max: values(&converter.row_group_maxes(this)?, shape)?.remove(0),
            exact: exact.iter().all(|flags| flags.iter().next().flatten() == Some(true)),
            nulls: count(converter.row_group_null_counts(this)?),
            rows: converter.row_group_row_counts(this)?.and_then(count),
        })
    }

    fn pages_that_may(&self, leaf: &Predicate, wanted: bool, row_group: usize) -> Result<RowsLeft, Refusal> {
        let Some((converter, shape)) = self.converter(column_of(leaf))? else { return Ok(RowsLeft(None)) };
        let pages = self.page_claims(&converter, shape, row_group)?;
        let selector = |page: &Claims| {
            let rows = page.rows? as usize;
            Some(if may_be(leaf, wanted, page) { RowSelector::select(rows) } else { RowSelector::skip(rows) })
        };
        let selectors: Option<Vec<RowSelector>> = pages.iter().map(selector).collect();
        Ok(RowsLeft(selectors.filter(|selectors| !selectors.is_empty()).map(RowSelection::from)))
    }

    /// The claims about each page; none, where the two halves of the page index do not have as many pages.
    fn page_claims(
        &self,
        converter: &StatisticsConverter,
        shape: &Shape,
        row_group: usize,
    ) -> Result<Vec<Claims>, Refusal> {
        let (metadata, this) = (self.builder.metadata(), [row_group]);
        let Some(page_index) = metadata.page_index().map(|page_index| &**page_index) else { return Ok(Vec::new()) };
        let rows = converter.data_page_row_counts(page_index, metadata.row_groups(), &this)?;
        let mins = values(&converter.data_page_mins(page_index, &this)?, shape)?;
        let maxes = values(&converter.data_page_maxes(page_index, &this)?, shape)?;
        let nulls = converter.data_page_null_counts(page_index, &this)?;
        let Some(rows) = rows.filter(|rows| [mins.len(), maxes.len(), nulls.len()] == [rows.len(); 3]) else {
            return Ok(Vec::new());
        };
        let bounds = mins.into_iter().zip(maxes);
        let counts = nulls.iter().zip(&rows);
        Ok(bounds
            .zip(counts)
            .map(|((min, max), (nulls, rows))| Claims { min, max, exact: false, nulls, rows })
            .collect())
    }
}

fn column_of(leaf: &Predicate) -> &str {
    match leaf {
        Predicate::Compare { column, .. } | Predicate::In { column, .. } | Predicate::IsNull { column } => column,
        Predicate::Not(_) | Predicate::And(_) | Predicate::Or(_) => "",
    }
}

/// Whether a part of a predicate may have the wanted truth for a row of which this is claimed.
fn may_be(leaf: &Predicate, wanted: bool, claims: &Claims) -> bool {
    let all_null = claims.rows.is_some() && claims.nulls == claims.rows;
    match leaf {
        Predicate::IsNull { .. } => {
            if wanted {
                claims.nulls != Some(0)
            } else {
                !all_null
            }
        }
        _ if all_null => false,
        Predicate::Compare { literal, .. } if literal.is_null() => false,
        Predicate::Compare { comparison, literal, .. } if wanted => may_compare(*comparison, literal, claims),
        Predicate::Compare { comparison, literal, .. } => may_not_compare(*comparison, literal, claims),
        Predicate::In { literals, .. } if wanted => literals.iter().any(|literal| may_be_equal(literal, claims)),
        Predicate::In { literals, .. } => {
            literals.iter().all(|literal| may_not_compare(Comparison::Equal, literal, claims))
        }
        Predicate::Not(_) | Predicate::And(_) | Predicate::Or(_) => true,
    }
}

fn may_be_equal(literal: &Value, claims: &Claims) -> bool {
    !literal.is_null() && may_compare(Comparison::Equal, literal, claims)
}

/// Whether a value with this claim may compare so with the literal. NaN is outside all bounds.
fn may_compare(comparison: Comparison, literal: &Value, claims: &Claims) -> bool {
    let order = |bound: &Value| match bound.compare(literal) {
        Compared::Ordered(order) => Some(order),
        Compared::Unordered | Compared::Incomparable => None,
    };
    let (min, max) = (order(&claims.min), order(&claims.max));
    let (less, equal, greater) = (Some(Ordering::Less), Some(Ordering::Equal), Some(Ordering::Greater));
    match comparison {
        Comparison::Equal => min != greater && max != less,
        Comparison::NotEqual => {
            matches!(claims.min, Value::Float(_)) || !(claims.exact && min == equal && max == equal)
        }
        Comparison::Less => min != equal && min != greater,
        Comparison::LessOrEqual => min != greater,
        Comparison::Greater => max != equal && max != less,
        Comparison::GreaterOrEqual => max != less,
    }
}

/// Whether the comparison may be false. A float that does not compare so with the literal need not compare the other way
/// round: it may be NaN.
fn may_not_compare(comparison: Comparison, literal: &Value, claims: &Claims) -> bool {
    let other_way_round = match comparison {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::GreaterOrEqual,
        Comparison::LessOrEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessOrEqual,
        Comparison::GreaterOrEqual => Comparison::Less,
    };
    let float = [literal, &claims.min, &claims.max].iter().any(|value| matches!(value, Value::Float(_)));
    !literal.is_null()
        && (float && comparison != Comparison::NotEqual || may_compare(other_way_round, literal, claims))
}
