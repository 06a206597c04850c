//! The names that [`table!`](crate::table) and the modules with settings need.

pub use super::file_table::FileTable;
pub use super::key::{Json, JsonObject, KeyOf, MS, S, Setting, US, Words};
pub(crate) use super::macros::keys;
pub use super::spec::*;
pub use super::values::Millimetres;
