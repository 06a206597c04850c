//! Measures of flows.

use super::distributions::{delays_of, rtts_of};
use super::item::{Item, Value, mean_s, ratio, share};
use super::period::Period;
use crate::kernel::time::Span;
use crate::quantities::*;
use crate::scenario::{Direction, Ends, Flow, Station, Transport};
use crate::tcp::Limit;
use crate::world::{Application, Endpoints};

impl Period<'_> {
    /// Returns the goodput of a flow in the measured period: the payload that was delivered in
    /// order, divided by the length of the period. [bit/s]
    pub(super) fn goodput_bps(&self, flow: usize) -> f64 {
        if let &Endpoints::Web(web) = self.world.flows().states()[flow].endpoints() {
            return self.web_goodput_bps(flow, web);
        }
        let (from, to) = (&self.start.flows[flow], &self.end.flows[flow]);
        let bits = (self.world).payload_bits_between(flow, from.delivered, to.delivered);
        let short_bytes = to.short_bytes - from.short_bytes; // of the last segments of chunks
        (bits - short_bytes as f64 * 8.0) / self.length_s()
    }

    /// Returns an item for each flow of the scenario, except web sources between wired nodes. Pings
    /// have round-trip times and losses only.
    pub(super) fn flows(&self, goodputs: &[f64]) -> Vec<Item> {
        let total: f64 = goodputs.iter().sum();
        let scenario = self.world.scenario();
        let noisy = scenario.stations.iter().any(Station::has_errors);
        let is_class = |index: &usize| {
            let flow = &scenario.flows[*index];
            matches!(flow.transport, Transport::Web(_)) && flow.ends == Ends::Wired
        };
        (0..goodputs.len())
            .filter(|index| !is_class(index))
            .map(|index| {
                let flow = &scenario.flows[index];
                if self.is_ping(index) {
                    return Item {
                        labels: self.labels(flow),
                        ..Item::new(&flow.name, self.pings([index].into_iter()))
                    };
                }
                if let &Endpoints::Web(web) = self.world.flows().states()[index].endpoints() {
                    let mut item = self.web_item(&flow.name, web, goodputs[index], total);
                    item.values.push(self.median_completion(web));
                    return Item {
                        labels: self.labels(flow),
                        ..item
                    };
                }
                let (from, to) = (&self.start.flows[index], &self.end.flows[index]);
                let samples = to.delay_samples - from.delay_samples;
                let delay = mean_s(to.delay_ns - from.delay_ns, samples);
                let mut values = vec![
                    GOODPUT.of(goodputs[index]),
                    GOODPUT_SHARE.of(share(goodputs[index], total)),
                ];
                let loss = self.loss([index].into_iter());
                let fraction = loss.1;
                if let Transport::Tcp(tcp) = &flow.transport {
                    let again = to.retransmitted - from.retransmitted;
                    values.push(RTT.of(delay));
                    values.extend(self.rtt_percentiles([index].into_iter()));
                    values.push(CWND.of(self.mean_cwnd([index].into_iter())));
                    if noisy {
                        let longest = self.world.flows().states()[index].cwnd_max();
                        values.push(CWND_MAX.of(longest));
                    }
                    let state = &self.world.flows().states()[index];
                    let life = state.life(self.start.marks.at, self.end.marks.at);
                    values.extend(self.limits([index].into_iter(), life));
                    values.push(loss);
                    values.push(RETRANSMISSIONS.of(again as f64));
                    if tcp.segments.is_some() {
                        let completion = self.world.flows().states()[index].completion_s();
                        values.push(COMPLETION.of(completion));
                        values.push(UNFINISHED.of(f64::from(completion.is_none())));
                    }
                } else {
                    values.push(ONE_WAY_DELAY.of(delay));
                    values.push(self.delay_p99([index].into_iter()));
                    values.push(loss);
                }
                values.extend(self.reports(index));
                values.extend(self.chunks([index].into_iter()));
                values.extend(self.stream(index));
                values.extend(self.video(index, goodputs[index], fraction));
                Item {
                    labels: self.labels(flow),
                    ..Item::new(&flow.name, values)
                }
            })
            .collect()
    }

    /// Returns the cwnd of these TCP flows, averaged over the time for which each flow existed in
    /// the measured period. The value is `None` if no flow existed in the period. [packets]
    pub(super) fn mean_cwnd(&self, flows: impl Iterator<Item = usize>) -> Option<f64> {
        let (mut count, mut area, mut life_ns) = (0_u32, 0.0, 0);
        for flow in flows {
            let state = &self.world.flows().states()[flow];
            let life = state.life(self.start.marks.at, self.end.marks.at);
            count += u32::from(life > Span::ZERO);
            life_ns += life.0;
            area += self.end.flows[flow].cwnd_ns - self.start.flows[flow].cwnd_ns;
        }
        let count = f64::from(count);
        (life_ns > 0).then(|| area / (life_ns as f64 / count) / count)
    }

    /// Returns for each limit (such as cwnd or the receive window) the fraction of time in which
    /// this limit stopped the sender. `flows` are successive connections of one sender. `life` is
    /// the time for which connections existed in the measured period. The fractions are `None` if
    /// `life` is zero. [-]
    pub(super) fn limits(
        &self,
        flows: impl Iterator<Item = usize> + Clone,
        life: Span,
    ) -> [Value; Limit::COUNT] {
        let limits = [
            (CWND_LIMITED, Limit::Cwnd),
            (RWND_LIMITED, Limit::Rwnd),
            (APP_LIMITED, Limit::App),
        ];
        limits.map(|(quantity, limit)| {
            let ns = self.over(flows.clone(), |c| c.limited_ns[limit as usize]);
            let part = ratio(ns, self.length_ns());
            quantity.of(part.filter(|_| life > Span::ZERO))
        })
    }

    /// Returns the 99th percentile of the delays of these flows' datagrams.
    pub(super) fn delay_p99(&self, flows: impl Iterator<Item = usize>) -> Value {
        let delays = delays_of(self.world, flows);
        ONE_WAY_DELAY_P99.of(delays.quantile_s(0.99))
    }

    /// Returns percentiles of the round-trip times of these flows; an empty list if round-trip
    /// times are not recorded.
    pub(super) fn rtt_percentiles(&self, flows: impl Iterator<Item = usize>) -> Vec<Value> {
        let rtts = rtts_of(self.world, flows);
        let values = rtts.map(|rtts| {
            [
                RTT_P95.of(rtts.quantile_s(0.95)),
                RTT_P99.of(rtts.quantile_s(0.99)),
            ]
        });
        values.into_iter().flatten().collect()
    }

    /// Returns the measures of a sensor's reports; an empty list if the flow is not that of a
    /// sensor.
    fn reports(&self, flow: usize) -> Vec<Value> {
        let application = self.world.flows().states()[flow].application();
        let Some(reports) = application.and_then(Application::reports) else {
            return Vec::new();
        };
        let tally = reports.tally(&self.interval());
        vec![
            REPORTS.of(tally.made as f64),
            REPORT_DELIVERY.of(tally.delivery()),
            REPORT_DELAY.of(tally.mean_s()),
            REPORT_DELAY_P95.of(tally.quantile_s(0.95)),
        ]
    }

    fn labels(&self, flow: &Flow) -> Vec<(&'static str, String)> {
        let Ends::Station { station, direction } = flow.ends else {
            return vec![("class", flow.class.clone())];
        };
        let station = self.world.scenario().stations[station].name.clone();
        let direction = match direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        vec![("station", station), ("direction", direction.to_owned())]
    }
}
