//! A queue shared by classes of flows: a controller blocks packets of each class (paper 000,
//! section V).
//!
//! A packet of any class is lost if the queue is full. If the queue has room, a packet is blocked
//! with the probability of its class. A packet without a class is never blocked. The controller
//! updates the probabilities at every arrival, or at regular times.
//!
//! The share h_i of class i is a share of the queue or of the service. The share of the queue is
//! the number of packets of the class in the queue, divided by the number of packets of all
//! classes. The share of the service is the fraction of the most recent data segments on the air
//! that belong to the class. Data segments of both directions are included. ACKs are not included,
//! so that uploads and downloads are measured in the same way.

use super::QueueCounters;
use super::discipline::{Backlog, DEFAULT_LIMIT, LIMIT, Verdict, moving};
use crate::control::buffer_sharing::{Controller, Observation, SharingAlgorithm};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{
    Json, S, US, duration, name, number, probability, tables, word, word_or_none,
};
use crate::packet::{Direction, Packet};
use crate::{table, words};

words! {
    /// Quantity of which each class has a share.
    pub enum ShareOf {
        /// Packets in the queue.
        Queue = "queue",
        /// Data segments that are sent over the air, in both directions.
        Service = "service",
    }
}

words! {
    /// Classes with equal shares.
    pub enum Alike {
        /// One class per station.
        Station = "station",
        /// One class per table of stations.
        Group = "group",
        /// One class of uploads and one of downloads.
        Direction = "direction",
    }
}

table! {
    /// Virtual buffer sharing (VBS) of the access point's queue. The queue holds a part of its limit, and each class has a target share.
    pub struct SharingSetting: Copy in "vbs" {
        /// Target occupancy c of the queue as a fraction of its limit, above 0 and below 1.
        occupancy: f64 = number(0.0..=1.0).default(0.6);
        /// Quantity of which classes have shares. "queue": packets in the queue. "service": data segments that are sent over the air, in both directions.
        share_of: ShareOf = word().default(ShareOf::Queue);
        /// Algorithm that blocks arriving packets of a class. "corrected": Algorithm 1, which blocks a class that has its share, but only while the queue has its target occupancy. "printed": Algorithm 1 as printed, which also blocks the class while the queue is shorter. "regulated": a proportional-integral controller for each class. "partition": a drop-tail buffer for each class, with its share of the target occupancy, rounded up to whole packets.
        algorithm: SharingAlgorithm = word().default(SharingAlgorithm::Corrected);
        /// Squared distance from the target occupancy, in packets, within which Algorithm 1 changes nothing. With "regulated" and "partition" the value affects only the measured quantity settling_s.
        tol: f64 = number(0.0..=1_000_000_000_000.0).depends("1/limit^2"), by tolerance;
        /// Time between two steps of the algorithm. "packet" makes one step at every arrival.
        update: Option<Span> = duration(US..=10 * S).or("packet").default("packet");
        /// Classes with equal shares: one per station, one per table of stations, or uploads and downloads.
        key by: Option<Alike> = word_or_none().absent("the tables [class.NAME]");
        /// Classes by name. A flow belongs to the first class whose conditions it meets. A flow without a class is never blocked, but it counts towards the target occupancy, except with "partition".
        key class: SharingClassTable = tables().absent("the classes of `by`");
    }
}

table! {
    /// A class of flows of stations. Absent keys set no condition. A class without conditions contains all flows that no earlier class contains.
    pub struct SharingClassTable in "class" {
        /// Share of the class, above 0. The shares of all classes sum to at most 1. The target h* is the share divided by this sum.
        share: f64 = number(0.0..=1.0).required();
        /// Name of a station, or of a table of stations.
        station: Option<String> = name().absent("any");
        /// Direction of the flows: uploads or downloads.
        direction: Option<Direction> = word_or_none().absent("both");
        /// Loss probability from which stations belong to the class. The loss probability is that of frames with full segments at the start of the run, in the worse direction. The condition applies to flows of sensors too.
        error_from: Option<f64> = probability().absent("any");
        /// Loss probability below which stations belong to the class. The loss probability is that of frames with full segments at the start of the run, in the worse direction. The condition applies to flows of sensors too.
        error_below: Option<f64> = number(0.0..=1.0).absent("any");
    }
}

/// A class of flows with a share of the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct SharingClass {
    /// Unique name of the class.
    pub name: String,
    /// Share of the class in the file. The shares of all classes sum to at most 1. [-]
    pub share: f64,
    /// Target of the class, h*: `share` divided by the sum of the shares of all classes. [-]
    pub target: f64,
    /// Indices of the flows of the class; there is at least one flow.
    pub flows: Vec<u32>,
}

/// Returns the tolerance set in the table `vbs`. The default is (1 / limit)^2, the square of the
/// share of one packet in the limit.
fn tolerance(layers: &Layers) -> Result<f64, Refused> {
    if let Some(tol) = layers.value(SharingSetting::tol)? {
        return Ok(tol);
    }
    let limit = layers.value(LIMIT)?;
    let room = f64::from(limit.unwrap_or(DEFAULT_LIMIT));
    Ok(1.0 / (room * room))
}

/// Amount by which a sum of shares may exceed 1 because of rounding.
const ROUNDING: f64 = 1e-9;

/// Computes the target share h* of each class.
pub fn sharing_targets(classes: &mut [SharingClass]) {
    let sum: f64 = classes.iter().map(|class| class.share).sum();
    // if the shares sum to 1 except for rounding, they are not divided by the sum
    let total = if sum < 1.0 - ROUNDING { sum } else { 1.0 };
    for class in classes {
        class.target = class.share / total;
    }
}

/// Returns whether a key that defines classes was refused because of an error.
fn lacks_classes(sharing: &Section) -> bool {
    sharing.lacks(SharingSetting::by) || sharing.lacks(SharingSetting::class)
}

/// Checks that the shares of the classes sum to at most 1. An error is reported at the share of the
/// last class.
fn check_sum(classes: &[(String, Section)], problems: &mut Problems) {
    let mut shares =
        (classes.iter()).filter_map(|(_, class)| class.located(SharingClassTable::share));
    let sum: f64 = shares.clone().map(|share| share.value).sum();
    if sum > 1.0 + ROUNDING
        && let Some(last) = shares.next_back()
    {
        let rest = sum - last.value;
        let fault = format!(
            "makes the shares of all classes sum to {}; expected a sum of at most 1, here at \
             most {}",
            rounded(sum),
            rounded((1.0 - rest).max(0.0))
        );
        last.refuse_value(fault, problems);
    }
}

/// Returns `value` without the trailing digits that binary rounding causes.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

impl SharingSetting {
    /// Checks the combinations of keys in the table `vbs`.
    pub fn check(sharing: &Section, problems: &mut Problems) {
        if let Some(occupancy) = sharing.located(SharingSetting::occupancy)
            && (occupancy.value <= 0.0 || occupancy.value >= 1.0)
        {
            let fault = "is no fraction of the queue's limit; expected a number above 0 and below \
                         1";
            occupancy.refuse_value(fault, problems);
        }
        if sharing.value(SharingSetting::algorithm) == Some(SharingAlgorithm::Partition) {
            if let Some(of) = sharing.located(SharingSetting::share_of)
                && of.value == ShareOf::Service
            {
                let fault = "does not fit algorithm = \"partition\", whose buffers hold packets of \
                             the queue; must be \"queue\"";
                of.refuse_value(fault, problems);
            }
            if let Some(update) = sharing.located(SharingSetting::update)
                && update.value.is_some()
            {
                let fault = "does not fit algorithm = \"partition\", whose buffers can fill with \
                             every packet; must be \"packet\"";
                update.refuse_value(fault, problems);
            }
        }
        let classes = sharing.tables(SharingSetting::class);
        match sharing.located(SharingSetting::by) {
            None if classes.is_empty() && !lacks_classes(sharing) => {
                let message = "no classes; expected `by`, or tables [class.NAME] each with a share";
                sharing.refuse(message, problems);
            }
            Some(by) if !classes.is_empty() => {
                by.refuse_value("conflicts with `class`; expected one of the two", problems);
            }
            None | Some(_) => {}
        }
        for (name, class) in classes {
            class.check_name(name, problems);
            if let Some(share) = class.located(SharingClassTable::share)
                && share.value == 0.0
            {
                let fault = "is no share; expected a number above 0 and at most 1";
                share.refuse_value(fault, problems);
            }
        }
        check_sum(classes, problems);
    }

    moving!(pub(super) occupancy, tol);

    /// Returns the parameters of virtual buffer sharing for the normalised scenario.
    pub(super) fn to_json(self, limit_packets: u32) -> Json {
        serde_json::json!({
            "limit_packets": limit_packets,
            "occupancy": self.occupancy,
            "tol_packets2": self.tol,
            "share_of": self.share_of.name(),
            "algorithm": self.algorithm.name(),
            "update_s": self.update.map(Span::seconds),
        })
    }
}

/// Time without arrivals of a class after which the class counts as absent.
const ABSENCE: Span = Span(1_000_000_000);

/// Number of data segments on the air over which the share of a class is averaged, divided by the
/// target occupancy of the queue in packets. Used only for [`ShareOf::Service`]. [-]
const SERVICE_MEMORY: f64 = 4.0;

/// Returns the weight of one data segment in the moving averages of the shares of the service.
fn weight(occupancy: f64) -> f64 {
    1.0 / (SERVICE_MEMORY * occupancy).max(1.0)
}

/// Value in `class_of` of a flow without a class.
const NO_CLASS: u16 = u16::MAX;

/// The deviation of the queue length from the target occupancy since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deviation {
    /// Time integral of the squared difference between queue length and target occupancy.
    /// [packets^2 ns]
    pub squared_ns: f64,
    /// Time during which the queue was empty. [ns]
    pub empty_ns: u64,
}

/// The state of a queue with virtual buffer sharing.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    limit: u32,
    setting: SharingSetting,
    next_update: Time,
    controller: Controller,
    /// Index of the class of each flow; [`NO_CLASS`] for a flow without a class.
    class_of: Vec<u16>,
    counters: Vec<QueueCounters>,
    /// Current share of each class: its fraction of the packets in the queue, or of the most recent
    /// data segments on the air (see [`ShareOf`]). [-]
    shares: Vec<f64>,
    present: Vec<bool>,
    last_arrival: Vec<Option<Time>>,
    /// Weight of one data segment in the moving averages of the shares of the service.
    weight: f64,
    served: u32,
    first_arrival: Option<Time>,
    settled_at: Option<Time>,
    area: Area,
    stream: Stream,
}

/// The time integrals of the queue length. A removed packet may count towards the queue length
/// until a time in the future.
#[derive(Clone, Copy, Debug, Default)]
struct Area {
    since: Time,
    length: u32,
    /// Time until which the packet that was removed last counts towards the queue length; `None` if
    /// no removed packet is counted.
    release: Option<Time>,
    target: f64,
    sum: Deviation,
}

impl Area {
    fn advance(&mut self, now: Time) {
        if let Some(at) = self.release
            && at <= now
        {
            self.pass(at);
            self.length -= 1;
            self.release = None;
        }
        self.pass(now);
    }

    fn pass(&mut self, to: Time) {
        let ns = to.since(self.since).0;
        let error = f64::from(self.length) - self.target;
        self.sum.squared_ns += error * error * ns as f64;
        if self.length == 0 {
            self.sum.empty_ns += ns;
        }
        self.since = self.since.max(to);
    }
}

impl SharedBuffer {
    /// Returns an empty queue of `limit` packets that `classes` share, in a scenario with `flows`
    /// flows.
    pub fn new(
        setting: SharingSetting,
        limit: u32,
        classes: &[SharingClass],
        flows: usize,
        stream: Stream,
    ) -> SharedBuffer {
        let occupancy = setting.occupancy * f64::from(limit);
        let targets: Vec<f64> = classes.iter().map(|class| class.target).collect();
        let mut class_of = vec![NO_CLASS; flows];
        for (number, class) in classes.iter().enumerate() {
            for &flow in &class.flows {
                class_of[flow as usize] = number as u16;
            }
        }
        let count = classes.len();
        SharedBuffer {
            limit,
            setting,
            next_update: Time::ZERO,
            controller: Controller::new(setting.algorithm, occupancy, setting.tol, targets),
            class_of,
            counters: vec![QueueCounters::default(); count],
            shares: vec![0.0; count],
            present: vec![false; count],
            last_arrival: vec![None; count],
            weight: weight(occupancy),
            served: 0,
            first_arrival: None,
            settled_at: None,
            area: Area {
                target: occupancy,
                ..Area::default()
            },
            stream,
        }
    }

    /// Sets the limit, the target occupancy and the tolerance from `now` on. The blocking
    /// probabilities do not change before the next step of the controller.
    pub(super) fn change(&mut self, now: Time, setting: SharingSetting, limit: u32) {
        self.area.advance(now); // up to now, the queue length is compared with the previous target
        self.setting = self.setting.moved_to(setting);
        self.limit = limit;
        let occupancy = setting.occupancy * f64::from(limit);
        self.controller.aim(occupancy, setting.tol);
        self.weight = weight(occupancy);
        self.area.target = occupancy;
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`, and counts
    /// the packet.
    pub fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.first_arrival.get_or_insert(now);
        let class = self.class(packet.flow);
        if let Some(class) = class {
            self.last_arrival[class] = Some(now);
        }
        self.control(now, backlog.packets);
        let blocked = class.is_some_and(|class| {
            let probability = self.controller.blocking()[class];
            probability >= 1.0 || self.stream.chance(probability)
        });
        let lost = blocked || backlog.packets >= self.limit;
        if let Some(class) = class {
            if lost {
                self.counters[class].refuse();
            } else {
                self.counters[class].enter(now);
            }
        }
        if lost {
            return Verdict::Drop;
        }
        self.area.advance(now);
        self.area.length += 1;
        self.note_settling(now, backlog.packets + 1);
        Verdict::Enter
    }

    /// Records that `packet` has left the queue. The packet counts towards the queue length until
    /// `at`.
    pub fn departed(&mut self, packet: &Packet, at: Time) {
        self.served += 1;
        if let Some(class) = self.class(packet.flow) {
            self.counters[class].leave(packet.queued, at);
        }
        if let Some(release) = self.area.release {
            self.area.advance(release);
        }
        self.area.release = Some(at);
        let inside = self.area.length - 1;
        self.note_settling(at, inside);
    }

    /// Records that a data segment of `flow` has been transmitted on the air, in either direction.
    pub fn carried(&mut self, flow: u32) {
        if self.setting.share_of != ShareOf::Service {
            return;
        }
        let Some(class) = self.class(flow) else {
            return;
        };
        for (other, share) in self.shares.iter_mut().enumerate() {
            *share += self.weight * (f64::from(other == class) - *share);
        }
    }

    /// Assigns the new flow `flow` to the class of flow `like`.
    pub(super) fn adopt(&mut self, flow: u32, like: u32) {
        let class = self.class_of[like as usize];
        self.class_of.resize(flow as usize + 1, NO_CLASS);
        self.class_of[flow as usize] = class;
    }

    /// Returns the class of a flow. Flows that the scenario does not define, such as pings, have no
    /// class.
    fn class(&self, flow: u32) -> Option<usize> {
        let class = *self.class_of.get(flow as usize)?;
        (class != NO_CLASS).then_some(usize::from(class))
    }

    /// Performs a step of the controller if a step is due.
    fn control(&mut self, now: Time, backlog_packets: u32) {
        if let Some(update) = self.setting.update {
            if now < self.next_update {
                return;
            }
            let late = now.since(self.next_update).0;
            self.next_update = now + Span(update.0 - late % update.0);
        }
        for (present, last) in self.present.iter_mut().zip(&self.last_arrival) {
            *present = last.is_some_and(|last| now.since(last) <= ABSENCE);
        }
        let total: u64 = self.counters.iter().map(QueueCounters::length).sum();
        if self.setting.share_of == ShareOf::Queue {
            for (share, counters) in self.shares.iter_mut().zip(&self.counters) {
                *share = counters.length() as f64 / total.max(1) as f64;
            }
        }
        self.controller.step(&Observation {
            backlog_packets: match self.setting.algorithm {
                SharingAlgorithm::Partition => total as f64,
                SharingAlgorithm::Corrected
                | SharingAlgorithm::Printed
                | SharingAlgorithm::Regulated => f64::from(backlog_packets),
            },
            shares: &self.shares,
            present: &self.present,
            served_packets: f64::from(std::mem::take(&mut self.served)),
        });
    }

    fn note_settling(&mut self, at: Time, length: u32) {
        if self.settled_at.is_none() && self.controller.is_near(f64::from(length)) {
            self.settled_at = Some(at);
        }
    }

    /// Returns the counters of each class.
    pub fn counters(&self) -> &[QueueCounters] {
        &self.counters
    }

    /// Returns the deviation of the queue length from the target occupancy up to `now`.
    pub fn deviation(&self, now: Time) -> Deviation {
        let mut area = self.area;
        area.advance(now);
        area.sum
    }

    /// Returns the time from the first arrival until the queue length was first within the
    /// tolerance of the target occupancy; `None` if the queue length was never within the
    /// tolerance.
    pub fn settling(&self) -> Option<Span> {
        Some(self.settled_at?.since(self.first_arrival?))
    }
}

#[cfg(test)]
mod linux;
#[cfg(test)]
mod tests;
