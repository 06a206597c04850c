//! The rate that a probe cluster has found (`probe_bitrate_estimator.cc`).
//!
//! The rates of sending and of arrival leave out the last and the first packet. The result is the
//! lower rate. If packets arrive at less than 90 % of the rate of sending, the link is full, and the
//! result is 95 % of the rate of arrival.

use std::collections::BTreeMap;

use super::probes::Cluster;
use super::report::PacketReport;
use crate::kernel::time::{Span, Time};

/// Fraction of a cluster's least packets and bytes that must arrive. [-]
const RECEIVED: f64 = 0.8;
/// Highest ratio of the rates of arrival and sending (`kMaxValidRatio`). [-]
const HIGHEST_RATIO: f64 = 2.0;
/// Ratio below which the link is full (`kMinRatioForUnsaturatedLink`). [-]
const FULL_RATIO: f64 = 0.9;
/// Fraction of a full link's rate in the result (`kTargetUtilizationFraction`). [-]
const UTILIZATION: f64 = 0.95;
/// Longest cluster, and time for which a cluster is stored (`kMaxProbeInterval`,
/// `kMaxClusterHistory`).
const LONGEST: Span = Span(1_000_000_000);

/// The packets of a cluster that have arrived.
#[derive(Clone, Copy, Debug)]
struct Arrivals {
    packets: u32,
    bytes: u64,
    sent: [Time; 2],
    arrived: [Time; 2],
    last_sent_bytes: u32,
    first_arrived_bytes: u32,
}

/// The results of probe clusters.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeResults {
    clusters: BTreeMap<u32, Arrivals>,
    result_bps: Option<f64>,
}

impl ProbeResults {
    /// Returns the last result, and removes it. [bit/s]
    pub(super) fn take(&mut self) -> Option<f64> {
        self.result_bps.take()
    }

    /// Adds a packet of a cluster, which arrived at `at`.
    pub(super) fn on_arrival(&mut self, at: Time, packet: &PacketReport, cluster: &Cluster) {
        let is_recent = |_: &u32, own: &mut Arrivals| at.since(own.arrived[1]) <= LONGEST;
        self.clusters.retain(is_recent);
        let own = self.clusters.entry(cluster.number).or_insert(Arrivals {
            packets: 0,
            bytes: 0,
            sent: [packet.sent; 2],
            arrived: [at; 2],
            last_sent_bytes: packet.bytes,
            first_arrived_bytes: packet.bytes,
        });
        own.packets += 1;
        own.bytes += u64::from(packet.bytes);
        own.sent[0] = own.sent[0].min(packet.sent);
        if packet.sent > own.sent[1] {
            own.sent[1] = packet.sent;
            own.last_sent_bytes = packet.bytes;
        }
        if at < own.arrived[0] {
            own.arrived[0] = at;
            own.first_arrived_bytes = packet.bytes;
        }
        own.arrived[1] = own.arrived[1].max(at);
        let enough = f64::from(own.packets) >= (f64::from(cluster.least_packets()) * RECEIVED)
            && own.bytes as f64 >= cluster.least_bytes() * RECEIVED;
        if enough && let Some(bps) = own.result() {
            self.result_bps = Some(bps);
        }
    }
}

impl Arrivals {
    /// Returns the rate that the cluster has found; `None` if the packets were sent or arrived at
    /// once, or too slowly. [bit/s]
    fn result(&self) -> Option<f64> {
        let spans = [self.sent, self.arrived].map(|[first, last]| last.since(first));
        if spans
            .iter()
            .any(|span| *span == Span::ZERO || *span > LONGEST)
        {
            return None;
        }
        let bits = |without: u32| 8.0 * (self.bytes - u64::from(without)) as f64;
        let sent = bits(self.last_sent_bytes) / spans[0].seconds();
        let arrived = bits(self.first_arrived_bytes) / spans[1].seconds();
        if arrived > HIGHEST_RATIO * sent {
            return None;
        }
        Some(match arrived < FULL_RATIO * sent {
            true => UTILIZATION * arrived,
            false => sent.min(arrived),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of five packets of 1,000 bytes that are sent each 8 ms (1 Mb/s), of which
    /// packet k arrives at `arrivals[k]` ms.
    fn result(arrivals: [u64; 5]) -> Option<f64> {
        let mut results = ProbeResults::default();
        let cluster = Cluster {
            number: 3,
            rate_bps: 1e6,
        };
        for (k, at) in (0..).zip(arrivals) {
            let at = Time(at * 1_000_000);
            let packet = PacketReport {
                sent: Time(k * 8_000_000),
                arrived: Some(at),
                bytes: 1000,
                cluster: Some(cluster),
            };
            results.on_arrival(at, &packet, &cluster);
        }
        results.take()
    }

    #[test]
    fn a_link_that_is_not_full_gives_the_lower_rate() {
        assert_eq!(result([50, 58, 66, 74, 82]), Some(1e6));
        // 32,000 bits in 31 ms arrive faster than they are sent
        assert_eq!(result([50, 58, 66, 74, 81]), Some(1e6));
        let slower = result([50, 58, 66, 74, 84]).unwrap(); // 32,000 bits in 34 ms
        assert!((slower - 32_000.0 / 0.034).abs() < 1e-6);
    }

    #[test]
    fn a_full_link_gives_95_percent_of_the_rate_of_arrival() {
        let rate_bps = result([50, 66, 82, 98, 114]).unwrap(); // 500 kb/s
        assert!((rate_bps - 475_000.0).abs() < 1e-6);
    }

    #[test]
    fn packets_that_arrive_much_faster_give_no_result() {
        assert_eq!(result([90, 91, 92, 93, 94]), None);
        assert_eq!(result([90; 5]), None);
    }
}
