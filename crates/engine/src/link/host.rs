//! The link between the host of a flow and the network, with a rate, a propagation time, and a
//! queue that is never full. The link has no losses and no counters.
//!
//! A host may add a random delay to each packet that it sends, as real hosts do. Without this
//! delay, packets arrive at a drop-tail queue in a fixed phase relative to the departures from this
//! queue. The phase then decides which flow's packets arrive when the queue is full (Floyd and
//! Jacobson, "On traffic phase effects in packet-switched gateways", Internetworking: Research and
//! Experience 3, 1992).
//!
//! The delay is the sum of a fast part and a slow part. Each part is uniform between 0 and the
//! setting. The fast part is drawn for each packet, like `overhead_` of ns-2. If the setting is the
//! packet time of the bottleneck, the fast part removes only half of the effect: a flow whose
//! round-trip time is a whole number of packet times keeps its phase. The slow part is drawn once
//! per second, and moves every flow through all phases. Packets stay in order: no packet arrives
//! before an earlier packet.

use super::LinkSettings;
use super::model::LinkModel;
use super::pipe::service;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// Link between the host of a flow and the network.
#[derive(Clone, Debug)]
pub struct Host {
    /// Rate; 0: packets have no serialisation time. [bit/s]
    rate_bps: u64,
    propagation: Span,
    last_departure: Time,
    last_sent: (u16, Span),
    jitter: Option<Box<Jitter>>,
}

/// Random delay (jitter) that a host adds to each packet.
#[derive(Clone, Debug)]
struct Jitter {
    /// Largest value of the fast part of the delay, and also of the slow part. [ns]
    most: u32,
    draws: Stream,
    /// Slow part of the delay, and the time until which the slow part applies.
    slow: Span,
    holds_until: Time,
    last_arrival: Time,
}

/// Time for which a value of the slow part applies. This time is long compared with round-trip
/// times, but short compared with a run.
const SLOW: Span = Span(1_000_000_000);

impl Host {
    /// Returns an empty link.
    pub fn new(settings: &LinkSettings, streams: &Streams) -> Host {
        let most = u32::try_from(settings.jitter.0).unwrap_or(u32::MAX);
        Host {
            rate_bps: settings.rate.bps().unwrap_or(0),
            propagation: settings.delay,
            last_departure: Time::ZERO,
            last_sent: (0, Span::ZERO),
            jitter: (most > 0).then(|| {
                Box::new(Jitter {
                    most,
                    draws: streams.stream(&format!("{}/jitter", settings.name)),
                    slow: Span::ZERO,
                    holds_until: Time::ZERO,
                    last_arrival: Time::ZERO,
                })
            }),
        }
    }

    /// Returns when `packet` arrives at the far end of the link. The packet enters the link at
    /// `at`. From call to call, `at` must not decrease.
    #[inline]
    pub fn enter(&mut self, at: Time, packet: &Packet) -> Time {
        let mut departs = at;
        if self.rate_bps != 0 {
            if self.last_sent.0 != packet.bytes {
                self.last_sent = (packet.bytes, service(packet.bytes, self.rate_bps));
            }
            departs = self.last_departure.max(at).plus(self.last_sent.1);
            self.last_departure = departs;
        }
        let arrival = departs.plus(self.propagation);
        match &mut self.jitter {
            None => arrival,
            Some(jitter) => jitter.after(arrival),
        }
    }
}

impl LinkModel for Host {
    fn mere_delay(&self) -> Option<Span> {
        (self.rate_bps == 0 && self.jitter.is_none()).then_some(self.propagation)
    }

    fn unrated_delay(&self) -> Option<Span> {
        self.mere_delay()
    }
}

impl Jitter {
    /// Returns when a packet arrives with jitter. Without jitter, the packet would arrive at
    /// `arrival`.
    fn after(&mut self, arrival: Time) -> Time {
        if arrival >= self.holds_until {
            self.slow = self.draw();
            self.holds_until = arrival + SLOW;
        }
        let late = arrival + self.slow + self.draw();
        self.last_arrival = self.last_arrival.max(late);
        self.last_arrival
    }

    fn draw(&mut self) -> Span {
        Span(u64::from(self.draws.up_to(self.most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueSetting;

    fn host(name: &str, rate_bps: Option<u64>, jitter: Span) -> Host {
        let settings = LinkSettings {
            rate: rate_bps.into(),
            delay: Span(1_000),
            jitter,
            queue: QueueSetting::drop_tail(u32::MAX),
            of_host: true,
            ..LinkSettings::ideal(name, "host", "left")
        };
        Host::new(&settings, &Streams::new(1, 0))
    }

    #[test]
    fn jitter_has_two_uniform_parts_and_keeps_the_order() {
        let mut apart = host("apart", None, Span(120_000));
        let mut late = |ms: u64| {
            let at = Time(ms * 1_000_000);
            apart.enter(at, &Packet::SAMPLE).since(at + Span(1_000)).0 as f64 / 120_000.0
        };
        // delays of ten packets in each of 1000 seconds
        let seconds: Vec<[f64; 10]> = (0..1_000_u64)
            .map(|k| std::array::from_fn(|packet| late(2_000 * k + packet as u64)))
            .collect();
        let all = || seconds.iter().flatten();
        assert!(all().all(|part| (0.0..=2.0).contains(part)));
        // The delay is the sum of two uniform parts, each with variance 1/12. Within a second only
        // the fast part varies; between seconds the slow part varies too.
        let mean = all().sum::<f64>() / 10_000.0;
        let of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let inside = |values: &[f64; 10]| {
            let own = of(values);
            values.iter().map(|x| (x - own) * (x - own)).sum::<f64>() / 9.0
        };
        let within = of(&seconds.iter().map(inside).collect::<Vec<_>>()) * 12.0;
        let means = seconds.iter().map(|values| of(values) - mean);
        let variance = means.map(|off| off * off).sum::<f64>() / 999.0;
        let between = variance * 12.0 - within / 10.0;
        // The tolerances are at least five standard deviations. The standard deviation of the mean
        // is at most 0.29/sqrt(1000). The standard deviation of a variance of n values is
        // 0.9/sqrt(n) of the variance.
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!((within - 1.0).abs() < 0.05, "{within}");
        assert!((between - 1.0).abs() < 0.15, "{between}");
        // packets are sent at shorter intervals than the jitter, but no packet may overtake another
        let mut close = host("close", Some(1_000_000_000), Span(120_000));
        let arrivals: Vec<Time> = (0..1_000_u64)
            .map(|k| close.enter(Time(k * 12_000), &Packet::SAMPLE))
            .collect();
        assert!(arrivals.is_sorted());
        let mut without = host("close", Some(1_000_000_000), Span::ZERO);
        for (k, arrival) in (0..1_000_u64).zip(&arrivals) {
            let due = without.enter(Time(k * 12_000), &Packet::SAMPLE);
            assert!(due <= *arrival && *arrival <= due + Span(240_000));
        }
    }

    #[test]
    fn each_host_has_a_jitter_of_its_own() {
        let mut hosts = ["a", "b"].map(|name| host(name, None, Span(120_000)));
        let arrivals = hosts
            .each_mut()
            .map(|host| host.enter(Time::ZERO, &Packet::SAMPLE));
        assert_ne!(arrivals[0], arrivals[1]);
    }
}
