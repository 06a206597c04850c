//! Congestion controls of other crates: their word and settings in files, their law behind a pointer.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Law;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, KeyOf};
use crate::notation::table::AddedWord;

/// A congestion control of another crate.
pub trait Control: Law + Clone + fmt::Debug + Send + 'static {
    /// Its word for `congestion`, and the key of its settings in tables of TCP.
    const NAME: &'static str;

    /// What a file says of it.
    type Settings: FileTable + Send + Sync + 'static;

    /// The control of one connection.
    fn new(settings: &Self::Settings) -> Self;
}

/// A congestion control of another crate, as its word in a file says.
#[derive(Clone, Copy)]
pub struct OutsideControl {
    part: &'static ControlPart,
}

/// A congestion control of another crate with its settings, which makes the algorithm of each connection.
#[derive(Clone)]
pub struct ConfiguredControl(Arc<Configured>);

struct Configured {
    name: &'static str,
    maker: Box<Maker>,
}

/// What a crate brings to have its control in files.
pub(crate) struct ControlPart {
    pub(crate) name: &'static str,
    read: fn(&Layers) -> Result<Box<Maker>, Refused>,
}

/// Makes the law of one connection.
type Maker = dyn Fn() -> OutsideLaw + Send + Sync;

impl ControlPart {
    pub(crate) const fn of<C: Control>() -> ControlPart {
        ControlPart {
            name: C::NAME,
            read: |layers| {
                let own = layers.inside(KeyOf::<C::Settings>::new(C::NAME));
                let settings = match own.layers().0.is_empty() {
                    true => C::Settings::usual()?,
                    false => C::Settings::read(&own.layers())?,
                };
                Ok(Box::new(move || Box::new(C::new(&settings))))
            },
        }
    }
}

impl OutsideControl {
    pub(super) const fn name(self) -> &'static str {
        self.part.name
    }

    pub(super) fn of(word: &AddedWord) -> Option<OutsideControl> {
        let part = word.extension.downcast_ref::<ControlPart>()?;
        Some(OutsideControl { part })
    }

    /// The same control with the settings that the layers give it.
    pub(crate) fn configured(self, layers: &Layers) -> Result<ConfiguredControl, Refused> {
        let configured = Configured {
            name: self.part.name,
            maker: (self.part.read)(layers)?,
        };
        Ok(ConfiguredControl(Arc::new(configured)))
    }
}

impl ConfiguredControl {
    /// Returns the algorithm of one connection.
    pub(super) fn law(&self) -> OutsideLaw {
        (self.0.maker)()
    }
}

/// Two are equal if their names are: no two parts have the same name.
impl PartialEq for ConfiguredControl {
    fn eq(&self, other: &ConfiguredControl) -> bool {
        self.0.name == other.0.name
    }
}

impl fmt::Debug for ConfiguredControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Two are equal if their names are: no two parts have the same name.
impl PartialEq for OutsideControl {
    fn eq(&self, other: &OutsideControl) -> bool {
        self.part.name == other.part.name
    }
}

impl Eq for OutsideControl {}

impl Hash for OutsideControl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.part.name.hash(state);
    }
}

impl fmt::Debug for OutsideControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.part.name)
    }
}

/// The law of one connection, whatever its type.
pub(super) type OutsideLaw = Box<dyn AnyLaw>;

pub(super) trait AnyLaw: Law + fmt::Debug + Send {
    fn boxed(&self) -> OutsideLaw;
}

impl<L: Law + Clone + fmt::Debug + Send + 'static> AnyLaw for L {
    fn boxed(&self) -> OutsideLaw {
        Box::new(self.clone())
    }
}

impl Clone for OutsideLaw {
    fn clone(&self) -> OutsideLaw {
        (**self).boxed()
    }
}
