//! The link of one flow's host: a rate and a propagation time, a queue that is never full, no losses,
//! and nothing that anyone asks for afterwards.

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::scenario::LinkSettings;

/// A link that only delays.
#[derive(Clone, Debug)]
pub struct Host {
    /// 0: no serialisation time. [bit/s]
    rate_bps: u64,
    propagation: Span,
    last_departure: Time,
    last_sent: (u16, Span),
}

impl Host {
    /// An empty link.
    pub fn new(settings: &LinkSettings) -> Host {
        Host {
            rate_bps: settings.rate_bps.unwrap_or(0),
            propagation: settings.delay,
            last_departure: Time::ZERO,
            last_sent: (0, Span::ZERO),
        }
    }

    /// When `packet`, which enters at `at`, not before the one in front, arrives at the far end.
    #[inline]
    pub fn enter(&mut self, at: Time, packet: &Packet) -> Time {
        if self.rate_bps == 0 {
            return at + self.propagation;
        }
        if self.last_sent.0 != packet.bytes {
            let service = Span::to_send(u64::from(packet.bytes), self.rate_bps);
            self.last_sent = (packet.bytes, service);
        }
        self.last_departure = self.last_departure.max(at) + self.last_sent.1;
        self.last_departure + self.propagation
    }
}
