//! What every driver in Rust shares: the protocol, its values and its predicates.
//!
//! A driver is a type that implements [`protocol::Driver`], and a `main` that hands it to [`serve::run`]. The modules
//! know nothing of a library, but for [`arrow_values`], which a driver of a library without Arrow arrays can delete.
//!
//! The protocol itself is described by `PROTOCOL.md` of pqassay.

pub mod arrow_values;
pub mod decimal;
pub mod predicate;
pub mod protocol;
pub mod serve;
pub mod value;
