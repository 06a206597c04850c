//! The bottleneck's estimator and its pings: whom to ask, what to make of the answer.

use lasthop_engine::control::{Observation, Wce};
use lasthop_engine::kernel::streams::{Stream, Streams};
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::link::shared::UDP_MEMORY;
use lasthop_engine::scenario::{Scenario, VsbSettings};

/// State of the estimator and of every ping under way.
pub(crate) struct Pings {
    wce: Option<Wce>,
    interval: Span,
    stream: Stream,
    /// When the next one is due.
    pub(crate) next: Time,
    heard: bool,
    number: u16,
    /// When each of the last 65,536 pings was sent.
    sent_at: Vec<Time>,
    /// Whether stations that send UDP are spared.
    spares_udp: bool,
    /// When the last uplink datagram of each station came by.
    udp: Vec<Option<Time>>,
    pub(crate) sent: u64,
    pub(crate) rtts: Vec<(Time, Span)>,
    pub(crate) rates: Vec<(Time, u64)>,
}

impl Pings {
    pub(crate) fn new(vsb: &VsbSettings, scenario: &Scenario, streams: &Streams) -> Pings {
        Pings {
            wce: match vsb.rate_bps {
                None => Wce::new(vsb.wce).ok(),
                Some(_) => None,
            },
            interval: vsb.wce.interval,
            stream: streams.stream("vsb/pings"),
            next: Time::ZERO + vsb.start,
            heard: true,
            number: 0,
            sent_at: vec![Time::NEVER; usize::from(u16::MAX) + 1],
            spares_udp: vsb.spares_udp,
            udp: vec![None; scenario.stations.len()],
            sent: 0,
            rtts: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// The bottleneck begins, at `first_bps`, or the next ping is due; returns its rate, and the number
    /// of the station to ping with that of the ping.
    pub(crate) fn due(&mut self, now: Time, first_bps: u64) -> (u64, Option<(u32, u16)>) {
        let rate_bps = match self.rates.last() {
            Some(&(_, bps)) => {
                if let Some(wce) = self.wce.as_mut().filter(|_| !self.heard) {
                    wce.step(Observation { at: now, rtt: None });
                }
                bps
            }
            None => {
                self.rates.push((now, first_bps));
                first_bps
            }
        };
        if self.wce.is_none() {
            self.next = Time::NEVER;
            return (rate_bps, None);
        }
        self.next = now + self.interval;
        self.heard = false;
        let asked = self.station(now).map(|node| {
            self.number = self.number.wrapping_add(1);
            self.sent += 1;
            self.sent_at[usize::from(self.number)] = now;
            (node, self.number)
        });
        (rate_bps, asked)
    }

    /// Number of a station drawn among those that do not send UDP, if there is one.
    fn station(&mut self, now: Time) -> Option<u32> {
        let sends = |last: &Option<Time>| last.is_some_and(|at| now.since(at) < UDP_MEMORY);
        let spared = |last: &Option<Time>| self.spares_udp && sends(last);
        let others = (1..).zip(&self.udp).filter(|(_, last)| !spared(last));
        let others: Vec<u32> = others.map(|(node, _)| node).collect();
        let last = others.len().checked_sub(1)?;
        Some(others[self.stream.up_to(last as u32) as usize])
    }

    /// A datagram of station number `node` comes by on its way up.
    pub(crate) fn note_udp(&mut self, now: Time, node: u32) {
        self.udp[node as usize - 1] = Some(now);
    }

    /// The answer to ping `number` has come back; returns the rate from now on, if it is the first one.
    pub(crate) fn answered(&mut self, now: Time, number: u16) -> Option<u64> {
        let sent = std::mem::replace(&mut self.sent_at[usize::from(number)], Time::NEVER);
        if sent > now {
            return None; // answered before
        }
        let rtt = now.since(sent);
        self.heard = true;
        self.rtts.push((now, rtt));
        let wce = self.wce.as_mut()?;
        wce.step(Observation {
            at: now,
            rtt: Some(rtt),
        });
        self.rates.push((now, wce.capacity_bps()));
        Some(wce.capacity_bps())
    }
}
