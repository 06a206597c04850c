//! Congestion controls of other crates: their word and settings in files, their law behind a pointer.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Law, NewAck, Window};
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, KeyOf};
use crate::notation::value::AddedWord;
use crate::tcp::recovery::Repair;

/// A congestion control of another crate.
pub trait Control: Law + Clone + fmt::Debug + Send + 'static {
    /// Its word for `congestion`, and the key of its settings in tables of TCP.
    const NAME: &'static str;

    /// What a file says of it.
    type Settings: FileTable + Send + Sync + 'static;

    /// The control of one connection.
    fn new(settings: &Self::Settings) -> Self;
}

/// A congestion control of another crate, as settings have it: its name, and its settings once they
/// have been read. They live as long as the program.
#[derive(Clone, Copy)]
pub struct OutsideControl {
    part: &'static ControlPart,
    maker: Option<&'static dyn Maker>,
}

/// What a crate brings to have its control in files.
pub(crate) struct ControlPart {
    pub(crate) name: &'static str,
    read: fn(&Layers) -> Result<&'static dyn Maker, Refused>,
}

/// A control with its settings.
trait Maker: Send + Sync {
    fn law(&self) -> OutsideLaw;
}

impl ControlPart {
    pub(crate) fn of<C: Control>() -> ControlPart {
        ControlPart {
            name: C::NAME,
            read: |layers| {
                let own = layers.inside(KeyOf::<C::Settings>::new(C::NAME));
                let settings = match own.layers().0.is_empty() {
                    true => C::Settings::usual()?,
                    false => C::Settings::read(&own.layers())?,
                };
                Ok(Box::leak(Box::new(Configured::<C>(settings))))
            },
        }
    }
}

struct Configured<C: Control>(C::Settings);

impl<C: Control> Maker for Configured<C> {
    fn law(&self) -> OutsideLaw {
        OutsideLaw(Box::new(C::new(&self.0)))
    }
}

impl OutsideControl {
    pub(super) const fn name(self) -> &'static str {
        self.part.name
    }

    pub(super) fn of(word: &AddedWord) -> Option<OutsideControl> {
        let part = word.brought.downcast_ref::<ControlPart>()?;
        let maker = None;
        Some(OutsideControl { part, maker })
    }

    /// The same with the settings of the layers.
    pub(crate) fn configured(self, layers: &Layers) -> Result<OutsideControl, Refused> {
        let maker = Some((self.part.read)(layers)?);
        Ok(OutsideControl { maker, ..self })
    }

    pub(super) fn law(self) -> OutsideLaw {
        match self.maker {
            Some(maker) => maker.law(),
            None => unreachable!("settings of TCP are read whole"),
        }
    }
}

/// By name: there is one part of a name.
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
pub(super) struct OutsideLaw(Box<dyn AnyLaw>);

trait AnyLaw: Law + fmt::Debug + Send {
    fn boxed(&self) -> Box<dyn AnyLaw>;
}

impl<L: Law + Clone + fmt::Debug + Send + 'static> AnyLaw for L {
    fn boxed(&self) -> Box<dyn AnyLaw> {
        Box::new(self.clone())
    }
}

impl Clone for OutsideLaw {
    fn clone(&self) -> OutsideLaw {
        OutsideLaw(self.0.boxed())
    }
}

impl fmt::Debug for OutsideLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Law for OutsideLaw {
    fn repair(&self) -> Repair {
        self.0.repair()
    }

    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        self.0.on_ack(window, ack);
    }

    fn decrease(&mut self, window: &Window, flight: u32) -> f64 {
        self.0.decrease(window, flight)
    }

    fn on_loss(&mut self, window: &mut Window, flight: u32) {
        self.0.on_loss(window, flight);
    }

    fn on_dup_ack(&mut self, window: &mut Window) {
        self.0.on_dup_ack(window);
    }

    fn on_partial_ack(&mut self, window: &mut Window, acked: u32) {
        self.0.on_partial_ack(window, acked);
    }

    fn on_recovered(&mut self, window: &mut Window) {
        self.0.on_recovered(window);
    }

    fn on_rto(&mut self, window: &mut Window, flight: u32, first: bool) {
        self.0.on_rto(window, flight, first);
    }
}
