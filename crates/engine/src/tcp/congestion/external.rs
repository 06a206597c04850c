//! Congestion controls from other crates: their names and settings in scenario files, and their
//! algorithms.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::control::CongestionControl;
use super::window_algorithm::WindowAlgorithm;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, KeyOf};
use crate::notation::table::AddedWord;

/// A congestion control from another crate.
pub trait ExternalControl: WindowAlgorithm + Clone + fmt::Debug + Send + 'static {
    /// Name of the congestion control. In a file, the name is the value of the key `congestion`. It
    /// is also the key under which a TCP table contains the settings of the congestion control.
    const NAME: &'static str;

    /// Settings of the congestion control in a scenario file.
    type Settings: FileTable + Send + Sync + 'static;

    /// Creates the congestion control of one connection.
    fn new(settings: &Self::Settings) -> Self;
}

/// The name of a congestion control from another crate, as a value of the key `congestion`.
#[derive(Clone, Copy)]
pub struct ExternalName {
    plugin: &'static ControlPlugin,
}

/// A congestion control from another crate, with its settings. It creates the algorithm of each
/// connection.
#[derive(Clone)]
pub struct ConfiguredControl(Arc<Configured>);

struct Configured {
    name: &'static str,
    maker: Box<Maker>,
}

/// A plugin, which adds a congestion control from another crate.
pub(crate) struct ControlPlugin {
    pub(crate) name: &'static str,
    read: fn(&Layers) -> Result<Box<Maker>, Refused>,
}

/// Function that creates the algorithm of one connection.
type Maker = dyn Fn() -> ExternalAlgorithm + Send + Sync;

impl ControlPlugin {
    pub(crate) const fn of<C: ExternalControl>() -> ControlPlugin {
        ControlPlugin {
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

impl ExternalName {
    pub(super) const fn name(self) -> &'static str {
        self.plugin.name
    }

    pub(super) fn of(word: &AddedWord) -> Option<ExternalName> {
        let plugin = word.extension.downcast_ref::<ControlPlugin>()?;
        Some(ExternalName { plugin })
    }

    /// Reads the settings of the congestion control from the tables `layers` of the file.
    pub(crate) fn configured(self, layers: &Layers) -> Result<ConfiguredControl, Refused> {
        let configured = Configured {
            name: self.plugin.name,
            maker: (self.plugin.read)(layers)?,
        };
        Ok(ConfiguredControl(Arc::new(configured)))
    }
}

impl ConfiguredControl {
    /// Creates the algorithm of one connection.
    pub(super) fn algorithm(&self) -> ExternalAlgorithm {
        (self.0.maker)()
    }
}

/// Controls are equal if their names are equal, because names are unique.
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

/// Names are equal if their texts are equal.
impl PartialEq for ExternalName {
    fn eq(&self, other: &ExternalName) -> bool {
        self.plugin.name == other.plugin.name
    }
}

impl Eq for ExternalName {}

impl Hash for ExternalName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plugin.name.hash(state);
    }
}

impl fmt::Debug for ExternalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plugin.name)
    }
}

/// The algorithm of one connection, of any Rust type.
pub(super) type ExternalAlgorithm = Box<dyn AnyAlgorithm>;

pub(super) trait AnyAlgorithm:
    CongestionControl<PacketInfo = ()> + fmt::Debug + Send
{
    fn boxed(&self) -> ExternalAlgorithm;
}

impl<A: WindowAlgorithm + Clone + fmt::Debug + Send + 'static> AnyAlgorithm for A {
    fn boxed(&self) -> ExternalAlgorithm {
        Box::new(self.clone())
    }
}

impl Clone for ExternalAlgorithm {
    fn clone(&self) -> ExternalAlgorithm {
        (**self).boxed()
    }
}
