//! Settings that several tables may give. The first table in a list of tables that gives the
//! setting determines its value.

use super::decode::{Located, Section};
use super::key::{KeyOf, Setting};
use super::problem::Refused;
use super::value::Value;

/// Sections in which a key is looked up, in this order. For example, an access key of a station is
/// looked up in the table of the station and then in the table of the cell. "Nearest" means the
/// first section in this order.
#[derive(Clone, Copy)]
pub struct Layers<'s, 'a>(pub &'s [&'a Section]);

/// The inner sections that several outer sections have under the same key, in the order of the
/// outer sections (nearest first).
pub struct Inside<'a>(Vec<&'a Section>);

impl<'a> Inside<'a> {
    /// Returns these sections as layers.
    pub fn layers(&self) -> Layers<'_, 'a> {
        Layers(&self.0)
    }
}

impl<'a> Layers<'_, 'a> {
    /// Returns the value of the nearest section that has the key.
    ///
    /// # Errors
    /// The value has been refused.
    pub fn value<T: Setting>(&self, key: KeyOf<T>) -> Result<Option<T>, Refused> {
        match self.checked(key.name())? {
            Some(value) => T::of(value).ok_or_else(|| self.lack(key)).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the value of the nearest section that has the key, or else the value of an absent
    /// setting of this type.
    ///
    /// # Errors
    /// The value has been refused.
    pub fn setting<T: Setting>(&self, key: KeyOf<T>) -> Result<Option<T>, Refused> {
        Ok(self.value(key)?.or_else(T::unsaid))
    }

    /// Returns the checked value of the nearest section that has the key of this name.
    fn checked(&self, name: &'static str) -> Result<Option<&'a Value>, Refused> {
        for section in self.0 {
            if section.lacks_named(name) {
                return Err(Refused::already());
            }
            if let Some(entry) = section.entry(name) {
                return Ok(Some(&entry.value));
            }
        }
        Ok(None)
    }

    /// Returns the value of the nearest section that has the key, with its entry; `None` if no
    /// section has the key.
    pub fn located<T: Setting>(&self, key: KeyOf<T>) -> Option<Located<'a, T>> {
        self.0.iter().find_map(|section| section.located(key))
    }

    /// Returns the value of the nearest section that has the key. The setting must have a default
    /// or be required.
    ///
    /// # Errors
    /// The value has been refused.
    pub fn need<T: Setting>(&self, key: KeyOf<T>) -> Result<T, Refused> {
        self.value(key)?.ok_or_else(|| self.lack(key))
    }

    /// Returns the tables that these sections have under `key`, in the order of the sections.
    pub fn inside<T>(&self, key: KeyOf<T>) -> Inside<'a> {
        let tables = self.0.iter().filter_map(|section| section.inside(key));
        Inside(tables.collect())
    }

    /// Returns the error for a key without a value. Either the value has been refused, or the table
    /// wrongly defines no default.
    pub fn lack<T>(&self, key: KeyOf<T>) -> Refused {
        self.lack_named(key.name())
    }

    fn lack_named(&self, name: &str) -> Refused {
        Refused::unsaid(match self.0.first() {
            Some(section) => section.path(name),
            None => name.to_owned(),
        })
    }
}
