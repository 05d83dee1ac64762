//! The protocol: what a driver is asked, and what it answers.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::predicate::Predicate;
use crate::value::Value;

/// Rows: one value for each column that was asked for, in that order.
pub type Rows = Vec<Vec<Value>>;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The library refused the file or the rows. `raised` is the type of its error.
    Rejected { message: String, raised: Option<String> },
    /// The library says or documents that it lacks something: a codec, a type, a wish.
    Unsupported { reason: String },
    /// The driver does not know the operation, or not for this family.
    UnknownOperation,
}

impl Refusal {
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Refusal::Unsupported { reason: reason.into() }
    }

    /// A refusal by the driver itself, of what its library accepted but no value of the protocol can say.
    pub fn rejected(message: impl Into<String>) -> Self {
        Refusal::Rejected { message: message.into(), raised: None }
    }

    /// A refusal by the library: what its error says, and of which type it is.
    pub fn raised<E: std::fmt::Display>(error: &E) -> Self {
        Refusal::Rejected { message: error.to_string(), raised: Some(std::any::type_name::<E>().to_owned()) }
    }

    /// The refusal as an answer.
    pub fn to_json(&self) -> Json {
        match self {
            Refusal::Rejected { message, raised: Some(raised) } => {
                json!({"answer": "reject", "message": message, "raised": raised})
            }
            Refusal::Rejected { message, raised: None } => json!({"answer": "reject", "message": message}),
            Refusal::Unsupported { reason } => json!({"answer": "unsupported", "reason": reason}),
            Refusal::UnknownOperation => json!({"answer": "unsupported", "reason": "operation"}),
        }
    }
}

/// What a driver says about its library.
pub struct Hello {
    pub name: &'static str,
    pub version: &'static str,
    /// What the library can do: operations, types, codecs. What is not named is not asked.
    pub capabilities: Vec<&'static str>,
    /// `"unordered"` or `"greatest"`: how the library compares NaN.
    pub nan: &'static str,
    /// `"equal"` or `"apart"`: how the library compares -0.0 and 0.0.
    pub zeros: &'static str,
    /// Whether the library itself can leave indexes aside, and still filters rows.
    pub index_off: bool,
    /// Types of errors that the library returns on purpose, or patterns of them; if empty, the runner goes by names.
    pub raises: Vec<&'static str>,
}

/// A query of a scan.
pub struct Query {
    pub predicate: Predicate,
    pub columns: Vec<String>,
    /// Whether to use what the file says about its values.
    pub index: bool,
}

/// Rows, and whether the index was ignored because the library has no use of it at all.
pub struct Found {
    pub rows: Rows,
    pub ignored_index: bool,
}

/// A request to write rows as a Parquet file.
pub struct Writing<'a> {
    pub family: &'a str,
    /// The column at stake, if the family is about one.
    pub column: Option<&'a str>,
    pub columns: Vec<WrittenColumn>,
    pub rows: Rows,
    pub output: &'a Path,
    /// An object of wishes, perhaps empty.
    pub wishes: &'a Json,
}

/// A column to write.
pub struct WrittenColumn {
    pub name: String,
    /// Such as `int32` or `list<string>`.
    pub kind: String,
    pub nullable: bool,
}

/// A driver: what its library answers to each operation. An operation that is left out is one that it does not know.
///
/// Return what the library refuses as a [`Refusal`], and let panics end the process: they are crashes.
pub trait Driver {
    fn hello(&self) -> Hello;

    /// All rows of a file, with these top-level columns.
    fn read(&self, _file: &Path, _columns: &[String]) -> Result<Rows, Refusal> {
        Err(Refusal::UnknownOperation)
    }

    /// The rows of a file that satisfy a query.
    fn scan(&self, _family: &str, _file: &Path, _query: &Query) -> Result<Found, Refusal> {
        Err(Refusal::UnknownOperation)
    }

    /// What a structure of the file says about a column; for a bloom filter, whether it may hold each of the probes.
    fn decode(&self, _family: &str, _file: &Path, _column: &str, _probes: &[Value]) -> Result<Json, Refusal> {
        Err(Refusal::UnknownOperation)
    }

    /// Write a file. After a refusal there is none.
    fn encode(&self, _writing: &Writing) -> Result<(), Refusal> {
        Err(Refusal::UnknownOperation)
    }
}

/// Ask a driver, and hand out each line of its answer; false, and no line, if it does not know the operation.
///
/// # Errors
///
/// What `line` returns.
pub fn answer(
    driver: &impl Driver,
    request: &Json,
    line: &mut impl FnMut(Json) -> io::Result<()>,
) -> io::Result<bool> {
    if let ("scan", Some(queries)) = (request["op"].as_str().unwrap_or_default(), request["queries"].as_array()) {
        for query in queries {
            let Some(mut answered) = or_refusal(scan(driver, request, query)) else { return Ok(false) };
            answered["seq"] = query["seq"].clone();
            line(answered)?;
        }
        return Ok(true);
    }
    let answered = or_refusal(match request["op"].as_str() {
        Some("hello") => Ok(hello(&driver.hello())),
        Some("read") => read(driver, request),
        Some("decode") => decode(driver, request),
        Some("encode") => encode(driver, request),
        _ => Err(Refusal::UnknownOperation),
    });
    answered.map(line).transpose().map(|answered| answered.is_some())
}

/// The answer, or the refusal as an answer; none if the operation is not known.
fn or_refusal(answered: Result<Json, Refusal>) -> Option<Json> {
    match answered {
        Err(Refusal::UnknownOperation) => None,
        Err(refusal) => Some(refusal.to_json()),
        Ok(answer) => Some(answer),
    }
}

fn hello(hello: &Hello) -> Json {
    let mut answer = json!({
        "answer": "accept",
        "name": hello.name,
        "version": hello.version,
        "language": "Rust",
        "capabilities": hello.capabilities,
        "serve": true,
        "nan": hello.nan,
        "zeros": hello.zeros,
        "index_off": hello.index_off,
    });
    if !hello.raises.is_empty() {
        answer["raises"] = json!(hello.raises);
    }
    answer
}

fn read(driver: &impl Driver, request: &Json) -> Result<Json, Refusal> {
    let rows = driver.read(&path(request, "file")?, &names(request)?)?;
    Ok(json!({"answer": "accept", "rows": to_json(&rows)}))
}

fn scan(driver: &impl Driver, request: &Json, query: &Json) -> Result<Json, Refusal> {
    let family = text(request, "family")?;
    let asked = Query {
        predicate: Predicate::parse(&query["predicate"])?,
        columns: names(query)?,
        index: query["index"] == "on",
    };
    let found = driver.scan(family, &path(request, "file")?, &asked)?;
    let answer = if found.ignored_index { "ignored-index" } else { "accept" };
    Ok(json!({"answer": answer, "rows": to_json(&found.rows)}))
}

fn decode(driver: &impl Driver, request: &Json) -> Result<Json, Refusal> {
    let probes = request["probes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let probes: Vec<Value> = probes.iter().map(Value::from_json).collect::<Result<_, _>>()?;
    let (family, column) = (text(request, "family")?, text(request, "column")?);
    let value = driver.decode(family, &path(request, "file")?, column, &probes)?;
    Ok(json!({"answer": "accept", "value": value}))
}

fn encode(driver: &impl Driver, request: &Json) -> Result<Json, Refusal> {
    let table = &request["rows"];
    let columns = table["columns"].as_array().ok_or_else(|| missing("rows"))?;
    let rows = table["rows"].as_array().ok_or_else(|| missing("rows"))?;
    let row = |row: &Json| row.as_array().into_iter().flatten().map(Value::from_json).collect();
    driver.encode(&Writing {
        family: text(request, "family")?,
        column: request["column"].as_str(),
        columns: columns
            .iter()
            .map(|column| {
                Ok(WrittenColumn {
                    name: text(column, "name")?.to_owned(),
                    kind: text(column, "type")?.to_owned(),
                    nullable: column["nullable"] != false,
                })
            })
            .collect::<Result<_, Refusal>>()?,
        rows: rows.iter().map(row).collect::<Result<_, _>>()?,
        output: &path(request, "output")?,
        wishes: &request["wishes"],
    })?;
    Ok(json!({"answer": "accept"}))
}

fn to_json(rows: &Rows) -> Json {
    rows.iter().map(|row| row.iter().map(Value::to_json).collect::<Json>()).collect()
}

fn path(request: &Json, name: &str) -> Result<PathBuf, Refusal> {
    text(request, name).map(PathBuf::from)
}

fn names(request: &Json) -> Result<Vec<String>, Refusal> {
    let names = request["columns"].as_array().ok_or_else(|| missing("columns"))?;
    names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(|| missing("columns"))).collect()
}

fn text<'a>(request: &'a Json, name: &str) -> Result<&'a str, Refusal> {
    request[name].as_str().ok_or_else(|| missing(name))
}

/// A request without a member that the protocol promises: of a protocol that this driver does not speak.
fn missing(name: &str) -> Refusal {
    Refusal::unsupported(format!("a request without {name}"))
}

#[cfg(test)]
mod tests {
    use super::{Driver, Hello, answer};
    use serde_json::json;

    struct Raising(Vec<&'static str>);

    impl Driver for Raising {
        fn hello(&self) -> Hello {
            Hello {
                name: "raising",
                version: "1",
                capabilities: vec![],
                nan: "unordered",
                zeros: "equal",
                index_off: true,
                raises: self.0.clone(),
            }
        }
    }

    #[test]
    fn hello_names_what_is_raised_only_if_that_is_declared() {
        for (raises, declared) in [(vec!["acme::*"], json!(["acme::*"])), (vec![], json!(null))] {
            let known = answer(&Raising(raises), &json!({"op": "hello"}), &mut |line| {
                assert_eq!((json!(true), &declared), (line["index_off"].clone(), &line["raises"]));
                Ok(())
            });
            assert!(known.unwrap());
        }
    }
}
