//! Losses on the way: what a link takes of the segments and datagrams that enter it; ACKs are spared.

use crate::kernel::streams::Stream;
use crate::notation::setting::{Json, Setting};
use crate::notation::value::Value;
use crate::packet::Packet;

/// What a link loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each one with this probability, independently.
    Random(f64),
}

impl Loss {
    /// Nothing.
    pub const NONE: Loss = Loss::Random(0.0);

    /// Share of the segments and datagrams that are lost. [-]
    pub fn share(self) -> f64 {
        match self {
            Loss::Random(probability) => probability,
        }
    }
}

impl Setting for Loss {
    fn of(value: &Value) -> Option<Loss> {
        f64::of(value).map(Loss::Random)
    }

    fn json(&self) -> Json {
        self.share().into()
    }
}

/// Decides on one direction of a link.
#[derive(Clone, Debug)]
pub struct Losses {
    rule: Loss,
    stream: Stream,
}

impl Losses {
    /// No packet has entered yet; random ones are drawn from `stream`.
    pub fn new(rule: Loss, stream: Stream) -> Losses {
        Losses { rule, stream }
    }

    /// `packet` enters the link; whether it is lost.
    #[inline(always)]
    pub fn take(&mut self, packet: &Packet) -> bool {
        packet.is_data()
            && match &self.rule {
                Loss::Random(probability) => self.stream.chance(*probability),
            }
    }
}
