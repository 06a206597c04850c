//! Imports for [`table!`](crate::table) and for the modules with settings.

pub use super::file_table::FileTable;
pub use super::key::{Json, JsonObject, KeyOf, MS, S, Setting, US, Words, put};
pub(crate) use super::macros::keys;
pub use super::spec::*;
pub use super::values::Millimetres;
