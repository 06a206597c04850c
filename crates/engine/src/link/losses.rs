//! Losses of a link: segments and datagrams that enter the link and do not arrive. ACKs are never
//! lost.
//!
//! Periodic losses are the losses of the model by M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The
//! macroscopic behavior of the TCP congestion avoidance algorithm", Computer Communication Review
//! 27(3), 1997. With such losses the window of Reno is a sawtooth between W/2 and W = sqrt(8N/3)
//! packets, where N is the period.

use crate::kernel::streams::Stream;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json, Setting, count, probability};
use crate::notation::table::Table;
use crate::notation::value::Value;
use crate::packet::Packet;
use crate::table;

table! {
    /// Losses of a link, given by one of the two keys.
    pub struct LossTable: Copy in "loss" {
        /// Probability that a segment or datagram is lost, independently of others.
        probability: Option<f64> = probability().absent("none");
        /// Period N of the losses: every N-th segment or datagram that enters the link is lost.
        every: Option<u32> = count(2..=1_000_000_000).absent("none");
    }
}

/// Rule for the losses of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each packet is lost with the given probability, independently of the others. [-]
    Random(f64),
    /// The last packet of each period is lost. The value is the length of the period, at least 2.
    /// [packets]
    Every(u32),
}

impl Loss {
    /// No losses.
    pub const NONE: Loss = Loss::Random(0.0);

    /// Returns the fraction of the segments and datagrams that are lost. [-]
    pub fn share(self) -> f64 {
        match self {
            Loss::Random(probability) => probability,
            Loss::Every(period) => 1.0 / f64::from(period),
        }
    }
}

impl FileTable for Loss {
    fn table() -> &'static Table {
        LossTable::table()
    }

    fn read(layers: &Layers) -> Result<Loss, Refused> {
        let LossTable { probability, every } = LossTable::read(layers)?;
        let rule = every.map(Loss::Every).or(probability.map(Loss::Random));
        rule.ok_or_else(|| layers.lack(LossTable::probability))
    }

    fn json(&self) -> Json {
        self.share().into()
    }
}

impl Setting for Loss {
    fn of(value: &Value) -> Option<Loss> {
        f64::of(value).map(Loss::Random)
    }

    fn json(&self) -> Json {
        FileTable::json(self)
    }
}

/// Losses of one direction of a link.
#[derive(Clone, Debug)]
pub struct Losses {
    rule: Loss,
    /// Whether the link can lose a packet.
    some: bool,
    stream: Stream,
    /// Number of segments and datagrams that have entered since the last periodic loss.
    entered: u32,
}

impl Losses {
    /// Returns the losses of a link that no packet has entered yet. Random losses are drawn from
    /// `stream`.
    pub fn new(rule: Loss, stream: Stream) -> Losses {
        Losses {
            rule,
            some: rule.share() > 0.0,
            stream,
            entered: 0,
        }
    }

    /// Returns whether the link can lose a packet.
    pub fn take_some(&self) -> bool {
        self.some
    }

    /// Returns whether `packet`, which enters the link, is lost.
    #[inline(always)]
    pub fn take(&mut self, packet: &Packet) -> bool {
        self.some
            && packet.kind.may_be_lost()
            && match self.rule {
                Loss::Random(probability) => self.stream.chance(probability),
                Loss::Every(period) => self.is_last_of(period),
            }
    }

    fn is_last_of(&mut self, period: u32) -> bool {
        self.entered += 1;
        let is_last = self.entered == period;
        if is_last {
            self.entered = 0;
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::packet::PacketKind;

    fn lost(rule: Loss, kinds: impl Iterator<Item = PacketKind>) -> Vec<usize> {
        let mut losses = Losses::new(rule, Streams::new(1, 0).stream("loss"));
        let packets = kinds.map(|kind| Packet {
            kind,
            ..Packet::SAMPLE
        });
        let lost = packets
            .enumerate()
            .filter(|(_, packet)| losses.take(packet));
        lost.map(|(place, _)| place).collect()
    }

    #[test]
    fn the_last_of_every_three_is_lost_and_acks_are_neither_counted_nor_lost() {
        let segments = std::iter::repeat_n(PacketKind::Segment, 10);
        assert_eq!(lost(Loss::Every(3), segments), [2, 5, 8]);
        let mixed = [PacketKind::Segment, PacketKind::Ack, PacketKind::Datagram];
        let mixed = mixed.into_iter().cycle().take(12);
        // the packets 0, 2, 3, 5, 6, 8, 9 and 11 are segments and datagrams, and every third of
        // them is lost; the other packets are ACKs
        assert_eq!(lost(Loss::Every(3), mixed), [3, 8]);
    }

    #[test]
    fn nothing_is_lost_without_a_rule() {
        let segments = std::iter::repeat_n(PacketKind::Segment, 1_000);
        assert_eq!(lost(Loss::NONE, segments).len(), 0);
    }
}
