//! Predicates: trees of comparisons, and their truth, which has three values as in SQL.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::protocol::Refusal;
use crate::value::{Compared, Value};

/// `Some(true)`, `Some(false)`, or `None`: unknown. Only what is true keeps a row.
pub type Truth = Option<bool>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug)]
pub enum Predicate {
    Compare { comparison: Comparison, column: String, literal: Value },
    In { column: String, literals: Vec<Value> },
    IsNull { column: String },
    Not(Box<Predicate>),
    And(Vec<Predicate>),
    Or(Vec<Predicate>),
}

impl Comparison {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "=" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }

    /// Whether the comparison of a cell with a literal is true, false or unknown.
    ///
    /// # Errors
    ///
    /// A refusal if the two cannot be compared.
    pub fn truth(self, cell: &Value, literal: &Value) -> Result<Truth, Refusal> {
        if cell.is_null() || literal.is_null() {
            return Ok(None);
        }
        match cell.compare(literal) {
            Compared::Ordered(order) => Ok(Some(self.holds(order))),
            Compared::Unordered => Ok(Some(self == Comparison::NotEqual)),
            Compared::Incomparable => Err(Refusal::unsupported("comparison of these types")),
        }
    }
}

impl Predicate {
    /// The predicate of a request.
    ///
    /// # Errors
    ///
    /// A refusal if the tree has a node that is not known.
    pub fn parse(tree: &Json) -> Result<Predicate, Refusal> {
        let unknown = || Refusal::unsupported(format!("predicate {tree}"));
        let nodes = tree.as_array().ok_or_else(unknown)?;
        let (name, parts) = nodes.split_first().ok_or_else(unknown)?;
        let name = name.as_str().ok_or_else(unknown)?;
        let predicates = || parts.iter().map(Predicate::parse).collect::<Result<Vec<_>, _>>();
        match (name, parts) {
            ("and", _) => return predicates().map(Predicate::And),
            ("or", _) => return predicates().map(Predicate::Or),
            ("not", [part]) => return Ok(Predicate::parse(part)?.negated()),
            _ => (),
        }
        let column = parts.first().and_then(Json::as_str).ok_or_else(unknown)?.to_owned();
        match (name, &parts[1..]) {
            ("is null", []) => Ok(Predicate::IsNull { column }),
            ("is not null", []) => Ok(Predicate::IsNull { column }.negated()),
            ("in" | "not in", [Json::Array(items)]) => {
                let literals = items.iter().map(Value::from_json).collect::<Result<_, _>>()?;
                let found = Predicate::In { column, literals };
                Ok(if name == "in" { found } else { found.negated() })
            }
            (_, [literal]) => {
                let comparison = Comparison::parse(name).ok_or_else(unknown)?;
                Ok(Predicate::Compare { comparison, column, literal: Value::from_json(literal)? })
            }
            _ => Err(unknown()),
        }
    }

    fn negated(self) -> Predicate {
        Predicate::Not(Box::new(self))
    }

    /// The names of the columns that the predicate asks about.
    pub fn columns(&self) -> BTreeSet<String> {
        match self {
            Predicate::Compare { column, .. } | Predicate::In { column, .. } | Predicate::IsNull { column } => {
                BTreeSet::from([column.clone()])
            }
            Predicate::Not(part) => part.columns(),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().flat_map(Predicate::columns).collect(),
        }
    }

    /// The truth of the predicate for one row; `cell` gives the row's value in a column.
    ///
    /// # Errors
    ///
    /// A refusal if the predicate compares what cannot be compared.
    pub fn truth<'a>(&self, cell: &impl Fn(&str) -> &'a Value) -> Result<Truth, Refusal> {
        match self {
            Predicate::Compare { comparison, column, literal } => comparison.truth(cell(column), literal),
            Predicate::In { column, literals } => {
                let equals = literals.iter().map(|literal| Comparison::Equal.truth(cell(column), literal));
                any(equals)
            }
            Predicate::IsNull { column } => Ok(Some(cell(column).is_null())),
            Predicate::Not(part) => Ok(part.truth(cell)?.map(|truth| !truth)),
            Predicate::And(parts) => {
                let negated = parts.iter().map(|part| Ok(part.truth(cell)?.map(|truth| !truth)));
                Ok(any(negated)?.map(|truth| !truth))
            }
            Predicate::Or(parts) => any(parts.iter().map(|part| part.truth(cell))),
        }
    }
}

/// True if one of them is, else unknown if one of them is.
fn any(truths: impl Iterator<Item = Result<Truth, Refusal>>) -> Result<Truth, Refusal> {
    let mut all = Some(false);
    for truth in truths {
        match truth? {
            Some(true) => all = Some(true),
            None if all == Some(false) => all = None,
            _ => (),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Predicate, Truth, Value};
    use serde_json::{Value as Json, json};

    fn truth(tree: Json, cell: Json) -> Truth {
        let cell = Value::from_json(&cell).unwrap();
        Predicate::parse(&tree).unwrap().truth(&|_| &cell).unwrap()
    }

    #[test]
    fn null_is_unknown() {
        assert_eq!(None, truth(json!(["=", "n", 1]), json!(null)));
        assert_eq!(None, truth(json!(["not", ["=", "n", 1]]), json!(null)));
        assert_eq!(None, truth(json!(["not in", "n", [1, null]]), json!(2)));
        assert_eq!(Some(false), truth(json!(["not in", "n", [1, null]]), json!(1)));
        assert_eq!(Some(true), truth(json!(["or", ["=", "n", 1], ["is null", "n"]]), json!(null)));
        assert_eq!(Some(false), truth(json!(["and", ["=", "n", 1], ["is not null", "n"]]), json!(null)));
        assert_eq!(None, truth(json!(["and", ["=", "n", 1], ["is null", "n"]]), json!(null)));
    }

    #[test]
    fn nan_equals_nothing() {
        let nan = || json!({"float": "nan"});
        for name in ["=", "<", "<=", ">", ">="] {
            assert_eq!(Some(false), truth(json!([name, "n", nan()]), nan()));
        }
        assert_eq!(Some(true), truth(json!(["!=", "n", nan()]), nan()));
    }

    #[test]
    fn what_is_not_a_predicate_is_refused() {
        for tree in [json!(null), json!([]), json!(["~", "n", 1]), json!(["=", "n"]), json!(["not"])] {
            assert!(Predicate::parse(&tree).is_err(), "{tree}");
        }
    }
}
