//! The receiver of an adaptive video: feedback, requests for lost packets, and displayed frames.

use std::collections::BTreeMap;

use super::freezes::Freezes;
use super::packets::{Part, Report};
use super::sender::Sender;
use crate::app::writes::Write;
use crate::kernel::time::{Span, Time};

/// Resolution of arrival times in transport-wide feedback.
const RESOLUTION_NS: u64 = 250_000;
/// Bounds of the time between two feedback packets, and the fraction of the target rate that
/// feedback may use (`TransportSequenceNumberFeedbackGenerator`).
const INTERVALS_S: [f64; 2] = [0.05, 0.25];
const SHARE: f64 = 0.05;
/// Length of a feedback packet in that fraction. [bit]
const FEEDBACK_BITS: f64 = 68.0 * 8.0;
/// Number of requests for a packet (`kMaxNackRetries`).
const REQUESTS: u32 = 10;
/// Round-trip time before the first feedback (`kDefaultRtt` of `nack_requester.cc`).
const FIRST_RTT: Span = Span(100_000_000);
/// Least time between two requests for a key frame.
const KEY_REQUEST: Span = Span(300_000_000);
/// Lengths of the headers of SRTCP and of transport-wide feedback, and of an item of a NACK.
/// [bytes]
const SRTCP_BYTES: u32 = 10;
const FEEDBACK_BYTES: u32 = 20;
const NACK_BYTES: u32 = 4;
/// Largest feedback packet. [bytes]
const LARGEST_BYTES: u32 = 1_500;

/// A part that has not arrived, although a later packet has.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    requests: u32,
    requested: Option<Time>,
}

/// Parts of a frame that is not complete.
#[derive(Clone, Debug)]
struct Partial {
    has: Vec<bool>,
    left: u16,
}

/// The receiver.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    header_bytes: u32,
    /// Number after the highest number that has arrived.
    expected: u32,
    /// Arrivals that are not reported, and the first number that was not reported.
    arrivals: BTreeMap<u32, Time>,
    unreported: u32,
    feedback_due: Time,
    missing: BTreeMap<Part, Missing>,
    /// Time of the next request for missing parts.
    request_due: Time,
    partial: BTreeMap<u32, Partial>,
    /// Number of the next frame to display.
    next: u32,
    /// Whether a part was given up, so that only a key frame helps.
    needs_key: bool,
    key_requested: Option<Time>,
    reports: BTreeMap<u32, Report>,
    made: u32,
    freezes: Freezes,
}

impl Receiver {
    pub(super) fn new(header_bytes: u32) -> Receiver {
        Receiver {
            header_bytes,
            expected: 0,
            arrivals: BTreeMap::new(),
            unreported: 0,
            feedback_due: Time::NEVER,
            missing: BTreeMap::new(),
            request_due: Time::NEVER,
            partial: BTreeMap::new(),
            next: 0,
            needs_key: false,
            key_requested: None,
            reports: BTreeMap::new(),
            made: 0,
            freezes: Freezes::default(),
        }
    }

    pub(super) fn freezes(&self) -> &Freezes {
        &self.freezes
    }

    pub(super) fn deadline(&self) -> Time {
        self.feedback_due.min(self.request_due)
    }

    /// Records the arrival of a packet. Returns the new payload of video in it. [bytes]
    pub(super) fn arrive(&mut self, now: Time, number: u32, sender: &Sender) -> u32 {
        let Some(packet) = sender.packet(number) else {
            return 0;
        };
        let at = Time(now.0 / RESOLUTION_NS * RESOLUTION_NS);
        self.arrivals.insert(number, at);
        if self.feedback_due == Time::NEVER {
            self.feedback_due = now + interval(sender.target_bps());
        }
        for lost in self.expected..number {
            let part = sender.packet(lost).and_then(|sent| sent.part);
            if let Some(part) = part.filter(|part| self.lacks(*part)) {
                self.missing.entry(part).or_insert_with(|| {
                    self.request_due = now;
                    Missing::default()
                });
            }
        }
        self.expected = self.expected.max(number + 1);
        packet.part.map_or(0, |part| self.add(now, part, sender))
    }

    /// Returns whether a part has not arrived, and is of use.
    fn lacks(&self, part: Part) -> bool {
        let partial = self.partial.get(&part.frame);
        let has = partial.is_some_and(|frame| frame.has[usize::from(part.index)]);
        part.frame >= self.next && !has
    }

    /// Adds a part, and displays the frames that are complete. Returns the length of the part if it
    /// is new. [bytes]
    fn add(&mut self, now: Time, part: Part, sender: &Sender) -> u32 {
        self.missing.remove(&part);
        let Some(frame) = sender.frame(part.frame).filter(|_| self.lacks(part)) else {
            return 0;
        };
        let partial = self.partial.entry(part.frame).or_insert_with(|| Partial {
            has: vec![false; usize::from(frame.parts)],
            left: frame.parts,
        });
        partial.has[usize::from(part.index)] = true;
        partial.left -= 1;
        if partial.left == 0 && frame.is_key {
            // a key frame does not refer to frames before it
            self.next = part.frame;
            self.partial = self.partial.split_off(&part.frame);
            let first = Part {
                frame: part.frame,
                index: 0,
            };
            self.missing = self.missing.split_off(&first);
            self.needs_key = false;
        }
        while (self.partial.get(&self.next)).is_some_and(|frame| frame.left == 0) {
            self.partial.remove(&self.next);
            self.next += 1;
            self.freezes.display(now);
        }
        frame.part_bytes(part.index)
    }

    /// Sends a feedback packet: the arrivals if the interval has passed, and requests.
    pub(super) fn act(&mut self, now: Time, sender: &Sender) -> Write {
        let mut report = Report::default();
        if self.feedback_due <= now {
            self.feedback_due = Time::NEVER; // until the next arrival
            if let (Some((&first, _)), Some((&last, _))) = (
                self.arrivals.first_key_value(),
                self.arrivals.last_key_value(),
            ) {
                let from = first.min(self.unreported);
                let known = (from..=last).filter_map(|number| {
                    let arrived = self.arrivals.get(&number).copied();
                    // a packet is reported as lost once
                    (arrived.is_some() || number >= self.unreported).then_some((number, arrived))
                });
                report.packets = known.collect();
                self.unreported = self.unreported.max(last + 1);
                self.arrivals.clear();
                self.feedback_due = now + interval(sender.target_bps());
            }
        }
        self.request(now, sender.rtt(), &mut report);
        if report.packets.is_empty() && report.wanted.is_empty() && !report.key_wanted {
            return Write::Nothing;
        }
        let bytes = self.length_of(&report);
        let number = self.made;
        self.made += 1;
        self.reports.insert(number, report);
        Write::Feedback { number, bytes }
    }

    /// Adds the missing parts whose request is due, and the request for a key frame.
    fn request(&mut self, now: Time, rtt: Span, report: &mut Report) {
        let wait = match rtt {
            Span::ZERO => FIRST_RTT,
            rtt => rtt,
        };
        let mut next = Time::NEVER;
        let mut given_up = false;
        self.missing.retain(|&part, missing| {
            let due = missing.requested.map_or(now, |at| at + wait);
            if due > now {
                next = next.min(due);
                return true;
            }
            if missing.requests == REQUESTS {
                given_up = true;
                return false;
            }
            missing.requests += 1;
            missing.requested = Some(now);
            next = next.min(now + wait);
            report.wanted.push(part);
            true
        });
        self.needs_key |= given_up;
        if self.needs_key {
            let due = self
                .key_requested
                .map_or(now, |at| at + wait.max(KEY_REQUEST));
            if due <= now {
                self.key_requested = Some(now);
                report.key_wanted = true;
            }
            next = next.min(due.max(now + KEY_REQUEST));
        }
        self.request_due = next;
    }

    /// Returns the length of a feedback packet: one byte for the arrival time of each packet, two
    /// bytes for the status of seven packets, and an item for each request. [bytes]
    fn length_of(&self, report: &Report) -> u16 {
        let count = report.packets.len() as u32;
        let arrived = report.packets.iter().filter(|(_, at)| at.is_some()).count() as u32;
        let feedback = match count {
            0 => 0,
            _ => FEEDBACK_BYTES + 2 * count.div_ceil(7) + arrived,
        };
        let items = report.wanted.len() as u32 + u32::from(report.key_wanted);
        let nack = match items {
            0 => 0,
            _ => 12 + NACK_BYTES * items,
        };
        let bytes = self.header_bytes + SRTCP_BYTES + feedback + nack;
        bytes.min(LARGEST_BYTES) as u16
    }

    /// Returns the content of feedback packet `number`, and removes it and all before it, which are
    /// lost.
    pub(super) fn take_report(&mut self, number: u32) -> Option<Report> {
        let report = self.reports.remove(&number);
        self.reports = self.reports.split_off(&number);
        report
    }
}

/// Returns the time between two feedback packets at a target rate. [bit/s]
fn interval(target_bps: f64) -> Span {
    let [shortest, longest] = INTERVALS_S;
    Span::from_seconds((FEEDBACK_BITS / (SHARE * target_bps)).clamp(shortest, longest))
}
