//! The sender of an adaptive video: encoder, pacer, repeated packets and probes.

use std::collections::VecDeque;

use super::packets::{FRAME, PAYLOAD_BYTES, Part, Report};
use crate::app::gcc::{Cluster, Controller, PacketReport, RateBounds};
use crate::app::writes::Write;
use crate::kernel::time::{Span, Time};

/// Length of a key frame, relative to the mean frame. libvpx allows at most 9 at 30 frames per
/// second (`rc_max_intra_target`). The frames after it have half the mean length until the target
/// rate is met again. [-]
const KEY_FRAME: f64 = 5.0;
/// Least length of a frame, relative to the mean frame. [-]
const LEAST_FRAME: f64 = 0.5;
/// Least time between two requested key frames (`kMinKeyframeSendInterval`).
const KEY_INTERVAL: Span = Span(300_000_000);
/// Longest time for which packets may wait in the pacer; the pacer sends faster if necessary
/// (`kMaxExpectedQueueLength`). [s]
const LONGEST_QUEUE_S: f64 = 2.0;
/// Time for which packets and frames are stored.
const STORED: Span = Span(60_000_000_000);

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    at: Time,
    bytes: u16,
    /// Frame and part of the frame; `None` for padding.
    pub(super) part: Option<Part>,
    cluster: Option<Cluster>,
}

/// A frame of the video.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) at: Time,
    pub(super) is_key: bool,
    /// Number of packets.
    pub(super) parts: u16,
    /// Length of the payload. [bytes]
    bytes: u32,
}

impl Frame {
    /// Returns the payload of part `index`. All parts have the same length, up to a byte. [bytes]
    pub(super) fn part_bytes(&self, index: u16) -> u32 {
        let parts = u32::from(self.parts);
        self.bytes / parts + u32::from(u32::from(index) < self.bytes % parts)
    }
}

/// A probe cluster that is being sent.
#[derive(Clone, Copy, Debug)]
struct Probing {
    cluster: Cluster,
    packets: u32,
    bytes: u64,
}

/// The sender.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    bounds: RateBounds,
    header_bytes: u32,
    controller: Controller,
    next_frame: Time,
    next_interval: Time,
    next_packet: Time,
    /// Number of the first stored frame, and the stored frames.
    first_frame: u32,
    frames: VecDeque<Frame>,
    /// Bytes by which a key frame exceeded the target rate.
    surplus: f64,
    key_wanted: bool,
    last_key: Time,
    /// Packets that wait. Repeated packets are sent first.
    repeated: VecDeque<Part>,
    waiting: VecDeque<Part>,
    waiting_bytes: u64,
    probing: Option<Probing>,
    /// Number of the first stored packet, and the stored packets.
    first_sent: u32,
    sent: VecDeque<Sent>,
    sent_bytes: u64,
    /// Number of bytes sent before each frame.
    log: Vec<(Time, u64)>,
}

impl Sender {
    pub(super) fn new(bounds: RateBounds, header_bytes: u32) -> Sender {
        Sender {
            bounds,
            header_bytes,
            controller: Controller::new(Time::ZERO, bounds),
            next_frame: Time::NEVER,
            next_interval: Time::NEVER,
            next_packet: Time::NEVER,
            first_frame: 0,
            frames: VecDeque::new(),
            surplus: 0.0,
            key_wanted: true,
            last_key: Time::ZERO,
            repeated: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            probing: None,
            first_sent: 0,
            sent: VecDeque::new(),
            sent_bytes: 0,
            log: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, now: Time) {
        self.controller = Controller::new(now, self.bounds);
        self.next_frame = now;
        self.next_interval = now + Controller::INTERVAL;
    }

    pub(super) fn deadline(&self) -> Time {
        let ticks = self.next_frame.min(self.next_interval);
        match self.has_packet() {
            true => ticks.min(self.next_packet),
            false => ticks,
        }
    }

    fn has_packet(&self) -> bool {
        self.probing.is_some() || !self.repeated.is_empty() || !self.waiting.is_empty()
    }

    /// Returns the round-trip time of the last feedback, which repeated packets wait for.
    pub(super) fn rtt(&self) -> Span {
        self.controller.rtt()
    }

    /// Returns the target rate. [bit/s]
    pub(super) fn target_bps(&self) -> f64 {
        self.controller.target_bps()
    }

    /// Performs the action that is due: a frame, an interval of the controller, or a packet.
    pub(super) fn act(&mut self, now: Time) -> Write {
        if self.next_frame <= now {
            self.encode(now);
            self.next_frame = now + FRAME;
            self.forget(now);
            return Write::Nothing;
        }
        if self.next_interval <= now {
            self.controller.on_interval(now);
            self.next_interval = now + Controller::INTERVAL;
            self.begin_probe(now);
            return Write::Nothing;
        }
        self.send(now)
    }

    /// Adds a frame to the packets that wait.
    fn encode(&mut self, now: Time) {
        self.log.push((now, self.sent_bytes));
        let mean = self.controller.target_bps() * FRAME.seconds() / 8.0;
        let is_key = std::mem::take(&mut self.key_wanted);
        let wanted = match is_key {
            true => mean * KEY_FRAME,
            false => (mean - self.surplus).max(mean * LEAST_FRAME),
        };
        self.surplus = (self.surplus + wanted - mean).max(0.0);
        if is_key {
            self.last_key = now;
        }
        // the target rate includes the headers
        let full = f64::from(PAYLOAD_BYTES + self.header_bytes);
        let parts = (wanted / full).ceil().max(1.0);
        let payload = wanted - parts * f64::from(self.header_bytes);
        let frame = Frame {
            at: now,
            is_key,
            parts: parts as u16, // at most 9,000: the key limits the rate
            bytes: payload.max(parts) as u32,
        };
        let number = self.first_frame + self.frames.len() as u32;
        for index in 0..frame.parts {
            self.waiting_bytes += u64::from(frame.part_bytes(index) + self.header_bytes);
            self.waiting.push_back(Part {
                frame: number,
                index,
            });
        }
        self.frames.push_back(frame);
        self.next_packet = match self.next_packet {
            Time::NEVER => now,
            at => at.max(now),
        };
        self.begin_probe(now);
    }

    /// Begins the next probe cluster, if one is due.
    fn begin_probe(&mut self, now: Time) {
        if self.probing.is_none()
            && !self.frames.is_empty()
            && let Some(cluster) = self.controller.next_cluster()
        {
            self.probing = Some(Probing {
                cluster,
                packets: 0,
                bytes: 0,
            });
            self.next_packet = now;
        }
    }

    /// Sends the next packet: repeated, of a frame, or padding of a probe cluster.
    fn send(&mut self, now: Time) -> Write {
        let part = match self.repeated.pop_front() {
            Some(part) => Some(part),
            None => self.waiting.pop_front().inspect(|part| {
                let bytes = self
                    .frame(part.frame)
                    .map_or(0, |f| f.part_bytes(part.index));
                self.waiting_bytes -= u64::from(bytes + self.header_bytes);
            }),
        };
        let cluster = self.probing.map(|probing| probing.cluster);
        let payload = match part {
            Some(part) => self
                .frame(part.frame)
                .map_or(1, |f| f.part_bytes(part.index)),
            None => cluster
                .map_or(1, |cluster| cluster.padding_bytes())
                .clamp(1, PAYLOAD_BYTES),
        };
        let bytes = payload + self.header_bytes;
        self.sent.push_back(Sent {
            at: now,
            bytes: bytes as u16, // no overflow: the keys limit payload and headers
            part,
            cluster,
        });
        self.sent_bytes += u64::from(bytes);
        self.controller.on_sent(now, bytes);
        let least_bps = 8.0 * self.waiting_bytes as f64 / LONGEST_QUEUE_S;
        let mut rate_bps = self.controller.pacing_bps().max(least_bps);
        if let Some(probing) = &mut self.probing {
            probing.packets += 1;
            probing.bytes += u64::from(bytes);
            rate_bps = probing.cluster.rate_bps;
            if probing.cluster.is_complete(probing.packets, probing.bytes) {
                self.probing = None;
            }
        }
        self.next_packet = now + Span::from_seconds(8.0 * f64::from(bytes) / rate_bps);
        if self.probing.is_none() {
            let due = self.next_packet;
            self.begin_probe(due);
        }
        Write::Datagram(bytes as u16)
    }

    /// Returns a stored frame.
    pub(super) fn frame(&self, number: u32) -> Option<&Frame> {
        let index = number.checked_sub(self.first_frame)?;
        self.frames.get(index as usize)
    }

    /// Returns a stored packet.
    pub(super) fn packet(&self, number: u32) -> Option<&Sent> {
        let index = number.checked_sub(self.first_sent)?;
        self.sent.get(index as usize)
    }

    /// Processes a feedback packet.
    pub(super) fn take_report(&mut self, now: Time, report: &Report) {
        let packets: Vec<PacketReport> = (report.packets.iter())
            .filter_map(|&(number, arrived)| {
                let sent = self.packet(number)?;
                Some(PacketReport {
                    sent: sent.at,
                    arrived,
                    bytes: u32::from(sent.bytes),
                    cluster: sent.cluster,
                })
            })
            .collect();
        if !packets.is_empty() {
            self.controller.on_feedback(now, &packets);
        }
        for &part in &report.wanted {
            if self.frame(part.frame).is_some() && !self.repeated.contains(&part) {
                self.repeated.push_back(part);
                self.next_packet = self.next_packet.max(now);
            }
        }
        self.key_wanted |= report.key_wanted && now.since(self.last_key) >= KEY_INTERVAL;
        self.begin_probe(now);
    }

    /// Returns the bytes that were sent from `from` to `to`. Both times count from the next frame
    /// on.
    pub(super) fn sent_bytes(&self, from: Time, to: Time) -> u64 {
        let before = |at: Time| {
            let index = self.log.partition_point(|&(frame, _)| frame < at);
            self.log
                .get(index)
                .map_or(self.sent_bytes, |&(_, bytes)| bytes)
        };
        before(to) - before(from)
    }

    /// Removes packets and frames that are too old to matter.
    fn forget(&mut self, now: Time) {
        while (self.sent.front()).is_some_and(|sent| now.since(sent.at) > STORED) {
            self.sent.pop_front();
            self.first_sent += 1;
        }
        while (self.frames.front()).is_some_and(|frame| now.since(frame.at) > STORED) {
            self.frames.pop_front();
            self.first_frame += 1;
        }
    }
}
