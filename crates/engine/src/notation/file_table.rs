//! A struct whose fields are the settings of a table.

use super::decode;
use super::key::Json;
use super::layers::Layers;
use super::problem::Refused;
use super::table::Table;

/// A struct whose fields are settings of a table of the file. The macro [`table!`](crate::table)
/// defines such structs.
pub trait FileTable: Sized {
    /// Returns the table's keys, kinds, defaults and documentation.
    fn table() -> &'static Table;

    /// Returns the settings of a table. Each setting is from the first of the `layers` (tables of
    /// the file) that gives this setting.
    ///
    /// # Errors
    /// A required value has been refused.
    fn read(layers: &Layers) -> Result<Self, Refused>;

    /// Returns the settings as in the normalised scenario. The name of each setting ends with its
    /// unit.
    fn json(&self) -> Json;

    /// Returns the defaults of all settings.
    ///
    /// # Errors
    /// If a key of the table is required.
    fn usual() -> Result<Self, Refused> {
        Self::read(&Layers(&[&decode::nothing(Self::table())]))
    }
}
