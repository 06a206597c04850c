//! Test bench: one TCP connection over a path that delays, loses and marks packets.

use super::{Ack, Receiver, Segment, Sender};
use crate::kernel::time::{Span, Time};
use crate::notation::setting::FileTable;
use crate::packet::{Ecn, EcnEcho};
use crate::tcp::{CongestionAlgorithm, TcpSettings};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) const MS: u64 = 1_000_000;

/// Returns settings with immediate ACKs. All other settings have their defaults (window 42, minimum
/// RTO 200 ms), which tests may change.
pub(super) fn settings(congestion: CongestionAlgorithm) -> TcpSettings {
    TcpSettings {
        congestion,
        delayed_ack: false,
        handshake: false,
        ..TcpSettings::usual().unwrap()
    }
}

/// Returns an ACK without ECN echo and SACK option.
pub(super) fn plain(next: u32, echo: Time) -> Ack {
    Ack {
        next,
        echo,
        sack: 0,
        ece: EcnEcho::NONE,
    }
}

/// A packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Packet {
    Data {
        number: u32,
        sent_at: Time,
        /// ECN field of the TCP header, and whether the IP header has CE.
        marks: (EcnEcho, bool),
    },
    Ack(Ack),
    Syn {
        sent_at: Time,
    },
    SynAck {
        echo: Time,
    },
}

/// Function that returns the one-way delay of a packet; `None` if the packet is lost.
type Passing<'a> = dyn FnMut(Packet) -> Option<Span> + 'a;

/// Function that returns whether the segment with this number is marked.
type Marking<'a> = dyn FnMut(u32) -> bool + 'a;

pub(super) struct Pipe<'a> {
    pub(super) now: Time,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) delivered: u64,
    /// Logged events of the connection, with their times. [ms]
    pub(super) log: Vec<(u64, String)>,
    /// Whether events are logged. Long tests turn the log off.
    pub(super) logs: bool,
    /// Whether the sender uses its SACK scoreboard even when an ACK does not require it.
    pub(super) looks: bool,
    under_way: BinaryHeap<Reverse<(Time, u64, Packet)>>,
    sent: u64,
    fate: Box<Passing<'a>>,
    /// Function that selects the segments to mark. By default no segment is marked.
    pub(super) marking: Box<Marking<'a>>,
}

impl<'a> Pipe<'a> {
    pub(super) fn new(
        settings: &TcpSettings,
        fate: impl FnMut(Packet) -> Option<Span> + 'a,
    ) -> Pipe<'a> {
        let mut pipe = Pipe {
            now: Time::ZERO,
            sender: Sender::new(settings),
            receiver: Receiver::new(settings),
            delivered: 0,
            log: Vec::new(),
            logs: true,
            looks: false,
            under_way: BinaryHeap::new(),
            sent: 0,
            fate: Box::new(fate),
            marking: Box::new(|_| false),
        };
        pipe.sender.open();
        pipe.send();
        pipe
    }

    /// Processes the next event, unless its time is after `until`. Returns whether an event was
    /// processed.
    pub(super) fn step(&mut self, until: Time) -> bool {
        let arrival = self.under_way.peek().map_or(Time::NEVER, |Reverse(p)| p.0);
        let timer = self.receiver.deadline().min(self.sender.deadline());
        let next = arrival.min(timer);
        if next > until || next == Time::NEVER {
            return false;
        }
        self.now = next;
        if arrival <= timer {
            let Reverse((_, _, packet)) = self.under_way.pop().unwrap();
            self.arrive(packet);
        } else if self.receiver.deadline() <= self.sender.deadline() {
            self.note(|| "ack timer".to_string());
            let ack = self.receiver.on_timer(self.now);
            self.acknowledge(ack.unwrap());
        } else {
            self.note(|| "timeout".to_string());
            self.sender.on_timer(self.now);
            self.send();
        }
        true
    }

    pub(super) fn run(&mut self, until: Time) {
        while self.step(until) {}
    }

    /// Supplies `segments` segments of data at `now`, when no event is due before `now`.
    pub(super) fn write(&mut self, now: Time, segments: u32) {
        self.now = now;
        self.sender.supply(now, segments);
        self.send();
    }

    fn arrive(&mut self, packet: Packet) {
        match packet {
            Packet::Data {
                number,
                sent_at,
                marks: (echo, ce),
            } => {
                let mut early = None;
                if ce || echo.speaks() {
                    early = self.receiver.on_marks(echo.is_set(), ce);
                }
                let received = self.receiver.on_segment(self.now, number, sent_at);
                self.delivered += u64::from(received.delivered);
                self.note(|| format!("got {number}"));
                if let Some(ack) = received.ack.or(early) {
                    self.acknowledge(ack);
                }
            }
            Packet::Ack(ack) => {
                self.look();
                if self.sender.needs_blocks(&ack) {
                    let blocks = self.receiver.blocks(ack.sack);
                    self.sender.on_sack(self.now, ack, &blocks);
                } else {
                    self.sender.on_ack(self.now, ack);
                }
                self.note(|| format!("acked {}", ack.next));
                self.send();
            }
            Packet::Syn { sent_at } => {
                self.note(|| "got SYN".to_string());
                self.carry(Packet::SynAck { echo: sent_at });
            }
            Packet::SynAck { echo } => {
                self.note(|| "got SYN-ACK".to_string());
                self.sender.on_syn_ack(self.now, echo);
                self.send();
            }
        }
    }

    fn look(&mut self) {
        if self.looks {
            self.sender.look_at_scoreboard();
        }
    }

    fn send(&mut self) {
        loop {
            self.look();
            let (in_network, room) = (self.sender.in_network(), self.sender.room());
            let Some(segment) = self.sender.next_segment(self.now) else {
                self.sender.check_limit();
                return self.send_syn();
            };
            if let Some(cwnd) = room {
                assert!(in_network < cwnd, "{segment:?}: {in_network} of {cwnd}");
            }
            let Segment {
                number,
                retransmission,
                ecn,
                echo,
            } = segment;
            assert!(!retransmission || ecn == Ecn::NotCapable, "{segment:?}");
            assert!(!self.sender.knows_of(number), "{segment:?} had been SACKed");
            let ce = ecn != Ecn::NotCapable && (self.marking)(number);
            let again = if retransmission { " again" } else { "" };
            self.note(|| format!("send {number}{again}"));
            let sent_at = self.now;
            let marks = (echo, ce);
            self.carry(Packet::Data {
                number,
                sent_at,
                marks,
            });
        }
    }

    fn send_syn(&mut self) {
        if let Some(syn) = self.sender.next_opening(self.now) {
            let again = if syn.repeated { " again" } else { "" };
            self.note(|| format!("send SYN{again}"));
            self.carry(Packet::Syn { sent_at: self.now });
        }
    }

    fn acknowledge(&mut self, ack: Ack) {
        self.note(|| format!("ack {}", ack.next));
        self.carry(Packet::Ack(ack));
    }

    fn carry(&mut self, packet: Packet) {
        let order = self.sent;
        self.sent += 1;
        match (self.fate)(packet) {
            // packets that arrive simultaneously are delivered in the order of their transmission
            Some(delay) => self
                .under_way
                .push(Reverse((self.now + delay, order, packet))),
            None => self.note(|| "lost".to_string()),
        }
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        if self.logs {
            self.log.push((self.now.0 / MS, what()));
        }
    }
}
