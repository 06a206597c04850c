//! A struct whose fields are the settings of a table.

use super::decode;
use super::key::Json;
use super::layers::Layers;
use super::problem::Refused;
use super::table::Table;

/// A struct whose fields are settings of a table of the file; [`table!`](crate::table) makes them.
pub trait FileTable: Sized {
    /// Returns the table's keys, kinds, defaults and documentation.
    fn table() -> &'static Table;

    /// Returns the settings of the layers, each from the nearest layer that gives it.
    ///
    /// # Errors
    /// A required value has been refused.
    fn read(layers: &Layers) -> Result<Self, Refused>;

    /// Returns the settings in the normalised scenario, each with its unit in its name.
    fn json(&self) -> Json;

    /// Returns the settings of an empty table.
    ///
    /// # Errors
    /// A key of the table must be given.
    fn usual() -> Result<Self, Refused> {
        Self::read(&Layers(&[&decode::nothing(Self::table())]))
    }
}
