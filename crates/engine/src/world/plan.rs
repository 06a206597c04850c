//! Events whose times are known from the start: starts and stops of flows, and changes of channels.

use std::collections::BinaryHeap;

use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::scenario::{Flow, Scenario, Transport};

/// An event whose time is known from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Planned {
    Start(u32),
    Stop(u32),
    /// Change of a station's channel: index of the station, and index of the change in the
    /// station's list of changes.
    Channel(u32, u32),
}

/// All planned events in order, and the number of events already processed.
pub(super) struct Plan {
    planned: Vec<(Time, Planned)>,
    done: usize,
    /// Index in `planned` of the next event that limits lookahead.
    heard: usize,
    /// For each flow, whether its start has no immediate effect on other flows.
    starts_alone: Vec<bool>,
}

impl Plan {
    pub(super) fn new(scenario: &Scenario, users: &[Flow], streams: &Streams) -> Plan {
        Plan {
            planned: plan_of(scenario, users, streams),
            done: 0,
            heard: 0,
            starts_alone: scenario.flows.iter().map(starts_alone).collect(),
        }
    }

    /// Returns the time of the next planned event that limits lookahead. All planned events limit
    /// lookahead, except the start of a TCP flow: the first packet of the flow is processed like
    /// any other packet.
    pub(super) fn next_heard(&mut self) -> Time {
        self.heard = self.heard.max(self.done);
        while let Some(&(at, planned)) = self.planned.get(self.heard) {
            match planned {
                Planned::Start(index) if self.starts_alone.get(index as usize) == Some(&true) => {
                    self.heard += 1;
                }
                Planned::Start(_) | Planned::Stop(_) | Planned::Channel(..) => return at,
            }
        }
        Time::NEVER
    }

    /// Returns the time of the next planned event.
    pub(super) fn next(&self) -> Time {
        let next = self.planned.get(self.done);
        next.map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Returns the next planned event, and counts it as processed.
    pub(super) fn take(&mut self) -> Option<Planned> {
        let &(_, planned) = self.planned.get(self.done)?;
        self.done += 1;
        Some(planned)
    }
}

fn starts_alone(flow: &Flow) -> bool {
    matches!(flow.transport, Transport::Tcp(_)) && flow.reports.is_none()
}

/// Returns the start time of a flow.
pub(crate) fn start_of(flow: &Flow, streams: &Streams) -> Time {
    let start = Time::ZERO + flow.start;
    if flow.start_spread == Span::ZERO {
        return start;
    }
    let part = streams.stream(&format!("{}/start", flow.name)).unit();
    start + Span((part * flow.start_spread.0 as f64) as u64)
}

fn plan_of(scenario: &Scenario, users: &[Flow], streams: &Streams) -> Vec<(Time, Planned)> {
    let at = |span: Span| Time::ZERO + span;
    let mut plan = Vec::new();
    for (index, flow) in scenario.flows.iter().chain(users).enumerate() {
        let start = start_of(flow, streams);
        // a flow that would start after its stop does not exist
        if flow.stop.is_none_or(|stop| start <= at(stop)) {
            plan.push((start, Planned::Start(index as u32)));
        }
        plan.extend(
            flow.stop
                .map(|stop| (at(stop), Planned::Stop(index as u32))),
        );
    }
    for (station, number) in scenario.stations.iter().zip(0..) {
        let changes = station.channel_changes.iter().zip(0..);
        plan.extend(changes.map(|(change, k)| (at(change.at), Planned::Channel(number, k))));
    }
    // the list is sorted only once, and the code of a heap is smaller than that of a sort
    BinaryHeap::from(plan).into_sorted_vec()
}
