//! Measures of the wired network: links, their queues, and classes of flows.

use super::fairness::jain;
use super::item::{Item, Value, mean_s, quantile, ratio, share};
use super::period::Period;
use crate::kernel::time::Span;
use crate::quantities::*;
use crate::scenario::Transport;
use crate::world::Endpoints;

/// A flow is starved if its goodput is below this fraction of the mean goodput of its class. [-]
const STARVING: f64 = 0.1;

impl Period<'_> {
    /// Returns the indices of the links that appear in results.
    fn shown(&self) -> impl Iterator<Item = usize> {
        let links = self.world.wires().links().iter().enumerate();
        links.filter(|(_, wired)| wired.is_shown()).map(|(k, _)| k)
    }

    pub(super) fn links(&self) -> Vec<Item> {
        let item = |index: usize| {
            let wired = &self.world.wires().links()[index];
            let (start, end) = (self.start.links[index].1, self.end.links[index].1);
            let mut values = vec![
                UTILISATION.of(ratio(end[0] - start[0], end[1] - start[1])),
                UTILISATION_MIN.of(wired.link().least_utilisation()),
            ];
            if self.world.wires().is_bottleneck(index) {
                let bottleneck = self.world.bottleneck().into_iter();
                values.extend(bottleneck.flat_map(|own| self.marks().bottleneck(own)));
            }
            Item::new(wired.name(), values)
        };
        self.shown().map(item).collect()
    }

    pub(super) fn link_queues(&self) -> Vec<Item> {
        let item = |index: usize| {
            let wired = &self.world.wires().links()[index];
            let (from, to) = (self.start.links[index].0, self.end.links[index].0);
            let mut item = self.queue_item(wired.name(), wired.marks(), from, to);
            let longest = wired.link().longest() as f64;
            item.values.push(OCCUPANCY_MAX.of(longest));
            let gauge = self.world.gauge();
            let deviation = gauge.and_then(|gauge| gauge.queue_deviation(index));
            item.values.push(OCCUPANCY_SD.of(deviation));
            item
        };
        self.shown().map(item).collect()
    }

    /// Returns an item for each class of flows. A class contains the flows that one table of the
    /// file defines. Pings count only in a class without other flows.
    pub(super) fn classes(&self, goodputs: &[f64], competing: &[bool]) -> Vec<Item> {
        let flows = &self.world.scenario().flows;
        let total: f64 = goodputs.iter().sum();
        let Some(gauge) = self.world.gauge() else {
            return Vec::new();
        };
        let item = |(class, name): (usize, &String)| {
            let members: Vec<usize> = (0..flows.len())
                .filter(|&index| gauge.class_of(index) == class)
                .collect();
            if let [only] = members[..]
                && let &Endpoints::Web(web) = self.world.flows().states()[only].endpoints()
            {
                return self.web_item(name, web, goodputs[only], total);
            }
            let (pings, members): (Vec<usize>, Vec<usize>) =
                members.iter().partition(|&&index| self.is_ping(index));
            if members.is_empty() {
                return Item::new(name, self.pings(pings.into_iter()));
            }
            // the pages of stations have items of their own among the flows
            let of_packets = |&index: &usize| {
                let transport = &self.world.scenario().flows[index].transport;
                !matches!(transport, Transport::Web(_))
            };
            let packets: Vec<usize> = members.iter().copied().filter(of_packets).collect();
            let sum: f64 = members.iter().map(|&index| goodputs[index]).sum();
            let lasting = members.iter().copied();
            let lasting: Vec<usize> = lasting.filter(|&index| self.lasts(index)).collect();
            let over_life = |&index: &usize| goodputs[index] * self.whole_over_life(index);
            let mean = lasting.iter().map(over_life).sum::<f64>() / lasting.len() as f64;
            let own: Vec<f64> = lasting
                .iter()
                .filter(|&&index| competing[index])
                .map(over_life)
                .collect();
            let starved = own.iter().filter(|&&x| x < STARVING * mean).count();
            let mut values = vec![
                GOODPUT.of(sum),
                GOODPUT_SHARE.of(share(sum, total)),
                JAIN.of(jain(&own)),
                STARVED_FLOWS.of((!lasting.is_empty()).then_some(starved as f64)),
                self.loss(members.iter().copied()),
            ];
            if members.iter().any(|&index| self.is_tcp(index)) {
                let lasting = |&index: &usize| self.is_tcp(index) && self.lasts(index);
                let cwnd = self.mean_cwnd(members.iter().copied().filter(lasting));
                values.push(CWND.of(cwnd));
                values.push(SYNCHRONISATION.of(gauge.synchronisation(class)));
            }
            values.extend(self.delays(&packets));
            values.extend(self.completions(&members));
            values.extend(self.chunks(members.iter().copied()));
            Item::new(name, values)
        };
        gauge.classes.iter().enumerate().map(item).collect()
    }

    /// Returns the length of the measured period, divided by the part of the period in which the
    /// flow existed. [-]
    fn whole_over_life(&self, index: usize) -> f64 {
        let state = &self.world.flows().states()[index];
        let life = state.life(self.start.marks.at, self.end.marks.at);
        ratio(self.length_ns(), life.0).unwrap_or(1.0)
    }

    /// Returns whether a flow has started and is not finished. Other flows are excluded from the
    /// fairness measures.
    fn lasts(&self, index: usize) -> bool {
        self.end.flows[index].sent > 0
            && self.world.flows().states()[index].completion_s().is_none()
    }

    fn is_tcp(&self, index: usize) -> bool {
        let transport = &self.world.scenario().flows[index].transport;
        matches!(transport, Transport::Tcp(_))
    }

    /// Returns the mean round-trip time of the TCP flows among `members`, and the mean one-way
    /// delay of the UDP flows among `members`. If there are no flows of one type, its value is
    /// omitted.
    fn delays(&self, members: &[usize]) -> Vec<Value> {
        let kinds = [(true, RTT), (false, ONE_WAY_DELAY)];
        let mean = |(tcp, quantity): (bool, Quantity)| {
            let of_kind = members.iter().copied();
            let of_kind = of_kind.filter(|&index| self.is_tcp(index) == tcp);
            of_kind.clone().next()?;
            let delay_ns = self.over(of_kind.clone(), |c| c.delay_ns);
            let samples = self.over(of_kind, |c| c.delay_samples);
            Some(quantity.of(mean_s(delay_ns, samples)))
        };
        let datagrams = || members.iter().copied().filter(|&index| !self.is_tcp(index));
        let p99 = datagrams().next().map(|_| self.delay_p99(datagrams()));
        kinds.into_iter().filter_map(mean).chain(p99).collect()
    }

    /// Returns the mean transfer rate of those flows of `finite` that are finished. The transfer
    /// rate of a flow is its payload divided by its completion time. [bit/s]
    fn transfer_rate_bps(&self, finite: &[usize]) -> Option<f64> {
        let rate = |&index: &usize| {
            let Transport::Tcp(tcp) = &self.world.scenario().flows[index].transport else {
                return None;
            };
            let bits = self.world.payload_bits_between(index, 0, tcp.segments?);
            Some(bits / self.world.flows().states()[index].completion_s()?)
        };
        let rates: Vec<f64> = finite.iter().filter_map(rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// Returns measures of the completion times of finite flows; an empty list if no flow is
    /// finite.
    fn completions(&self, members: &[usize]) -> Vec<Value> {
        let finite = |&&index: &&usize| match &self.world.scenario().flows[index].transport {
            Transport::Tcp(tcp) => tcp.segments.is_some(),
            Transport::Udp(_) | Transport::Web(_) | Transport::Ping(_) => false,
        };
        let finite: Vec<usize> = members.iter().filter(finite).copied().collect();
        if finite.is_empty() {
            return Vec::new();
        }
        let of = |&index: &usize| self.world.flows().states()[index].completion();
        let mut times: Vec<Span> = finite.iter().filter_map(of).collect();
        times.sort_unstable();
        let unfinished = (finite.len() - times.len()) as f64;
        let sum_ns = times.iter().map(|time| time.0).sum();
        vec![
            COMPLETION.of(mean_s(sum_ns, times.len() as u64)),
            COMPLETION_P95.of(quantile(&times, 0.95).map(Span::seconds)),
            UNFINISHED.of(unfinished),
            TRANSFER_RATE.of(self.transfer_rate_bps(&finite)),
        ]
    }
}
