//! Driver that runs the engine's cell and records a trace in the format of the oracle.

use lasthop_engine::app::Flow;
use lasthop_engine::cell::{Aggregating, Cell, Hotspot, ReceivedPackets, Transmission};
use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::mac::{NodeId, dcf};
use lasthop_engine::packet::{self, PacketKind};
use lasthop_engine::scenario::{Category, Direction, Scenario, Transport};

use super::super::contention::Who;
use super::super::medium::{Arrival, FIRST_REPLY};
use super::super::node::Packet;
use super::{AggregateTrace, Attempt, Outcome, Sent};

struct Driver {
    cell: Cell<Aggregating>,
    /// Sender and content of each packet, keyed by packet number.
    packets: std::collections::HashMap<u32, (Who, Packet)>,
    categories: Vec<Category>,
    under_way: Vec<(u32, Attempt)>,
    replies: u32,
    trace: AggregateTrace,
}

/// Returns one flow for each station, direction and access category.
fn flows(scenario: &Scenario, categories: &[Category]) -> Vec<Flow> {
    let transport = Transport::Udp(scenario.udp);
    let mut flows = Vec::new();
    for station in 0..scenario.stations.len() {
        for &category in categories {
            let name = format!("{station}/{}", category.name());
            flows.push(Flow {
                category,
                ..Flow::of_station(name, station, Direction::Up, transport.clone())
            });
        }
    }
    flows
}

/// Runs the engine's cell with `arrivals` (sorted by time) until no packet is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], streams: &Streams) -> AggregateTrace {
    let categories = Category::ALL.to_vec();
    let flows = flows(scenario, &categories);
    let hotspot = Hotspot {
        bss: scenario.only_bss(),
        stations: &scenario.stations,
        flows: &flows,
    };
    let mut driver = Driver {
        cell: Cell::aggregating(hotspot, false, streams),
        packets: std::collections::HashMap::new(),
        categories,
        under_way: Vec::new(),
        replies: 0,
        trace: AggregateTrace::default(),
    };
    driver.cell.record_transmissions();
    for arrival in arrivals {
        while driver.cell.deadline() <= arrival.at {
            driver.advance();
        }
        driver.arrive(arrival.at, arrival.who, arrival.packet);
    }
    while driver.cell.deadline() < Time::NEVER {
        driver.advance();
    }
    let held: Vec<(u32, u32)> = (driver.cell.in_aggregates())
        .map(|packet| (driver.packets[&packet.number].1.to, packet.number))
        .collect();
    driver.trace.held = held;
    driver.trace
}

/// Returns the part of a transmission that the test records: contender, receiver, and the frame
/// sent.
fn kept(transmission: &Transmission) -> (u32, u32, Sent) {
    let mut packets = transmission.packets.iter().map(|packet| packet.number);
    let mpdus = transmission.mpdus.iter().map(|mpdu| {
        let own = packets.by_ref().take(mpdu.packets as usize);
        (mpdu.number, own.collect())
    });
    let sent = match transmission.mpdus.is_empty() {
        true => Sent::BlockAckReq,
        false => Sent::Mpdus(mpdus.collect()),
    };
    (transmission.contender, transmission.planned.to.0, sent)
}

impl Driver {
    fn arrive(&mut self, now: Time, who: Who, packet: Packet) {
        self.packets.insert(packet.id, (who, packet));
        let station = who.0.max(packet.to) - 1;
        let categories = self.categories.len() as u32;
        let category = self
            .categories
            .iter()
            .position(|&category| category == who.1);
        let sent = packet::Packet {
            flow: station * categories + category.unwrap_or(0) as u32,
            number: packet.id,
            bytes: packet.ip_bytes as u16,
            kind: PacketKind::Datagram,
            ..packet::Packet::BLANK
        };
        let contender = self.cell.medium().contender(NodeId(who.0), who.1);
        if !self.cell.offer(now, contender, &sent) {
            self.trace.refused.push((now, who, packet.id));
        }
        if self.under_way.is_empty() && self.cell.medium().is_on_air() {
            self.begin(now);
        }
    }

    fn advance(&mut self) {
        let now = self.cell.deadline();
        if self.cell.timer(now) {
            return self.hand_up(now);
        }
        let outcome = self.cell.begin_or_end(now);
        if outcome == dcf::Outcome::Begins {
            return self.begin(now);
        }
        self.end(now, outcome);
    }

    fn begin(&mut self, now: Time) {
        let medium = self.cell.medium();
        for &contender in medium.transmitters() {
            let on_air = self.cell.on_air(contender).expect("a transmitter sends");
            let sent = match on_air.mpdus {
                None => Sent::BlockAckReq,
                Some(window) => Sent::Mpdus(
                    window
                        .ppdu()
                        .map(|(number, _, packets)| {
                            (number, packets.map(|packet| packet.number).collect())
                        })
                        .collect(),
                ),
            };
            let attempt = Attempt {
                start: now,
                who: (medium.node(contender).0, medium.category(contender)),
                to: on_air.to.0,
                sent,
                rts: false,
                outcome: Outcome::Collided,
            };
            self.under_way.push((contender, attempt));
        }
    }

    fn end(&mut self, now: Time, outcome: dcf::Outcome) {
        let mut ended = std::mem::take(&mut self.under_way);
        let kept: Vec<(u32, u32, Sent)> = self.cell.transmissions().iter().map(kept).collect();
        let sent = ended.iter();
        let sent = sent.map(|(contender, sender)| (*contender, sender.to, sender.sent.clone()));
        assert_eq!(
            kept,
            sent.collect::<Vec<_>>(),
            "the transmissions that are recorded"
        );
        for (contender, attempt) in &mut ended {
            attempt.rts = self.cell.medium().protection(*contender).is_some();
            if outcome == dcf::Outcome::Collided {
                continue;
            }
            attempt.outcome = Outcome::Received(match &attempt.sent {
                Sent::BlockAckReq => Vec::new(),
                Sent::Mpdus(mpdus) => {
                    let judged = mpdus.iter().zip(self.cell.judged());
                    let received = judged.filter(|(_, received)| **received);
                    received.map(|((number, _), _)| *number).collect()
                }
            });
            let done = match outcome {
                dcf::Outcome::Delivered { done, .. } => done,
                _ => continue,
            };
            if let (Sent::Mpdus(mpdus), Outcome::Received(numbers)) =
                (&attempt.sent, &attempt.outcome)
            {
                for (number, packets) in mpdus {
                    if numbers.contains(number) {
                        for &id in packets {
                            self.trace.acknowledged.push((done, attempt.who, id));
                        }
                    }
                }
            }
        }
        let attempts = ended.into_iter().map(|(_, attempt)| attempt);
        self.trace.attempts.extend(attempts);
        self.cell.settle(now, outcome, &mut ());
        let acknowledged: std::collections::HashSet<u32> = self
            .trace
            .acknowledged
            .iter()
            .map(|(_, _, id)| *id)
            .collect();
        while let Some(packet) = self.cell.take_lost() {
            let (who, known) = self.packets[&packet.number];
            match acknowledged.contains(&packet.number) {
                true => self.trace.too_late.push((now, known.to, known.id)),
                false => self.trace.given_up.push((now, who, known.id)),
            }
        }
        self.hand_up(now);
    }

    fn hand_up(&mut self, now: Time) {
        let mut received = ReceivedPackets::default();
        self.cell.swap_received(&mut received);
        for packet in received.runs().flat_map(|(_, packets)| packets) {
            let ((from, category), known) = self.packets[&packet.number];
            self.trace.handed_up.push((now, known.to, known.id));
            if let Some(ip_bytes) = known.reply_bytes {
                let id = FIRST_REPLY + self.replies;
                self.replies += 1;
                let reply = Packet {
                    id,
                    to: from,
                    ip_bytes,
                    reply_bytes: None,
                };
                self.arrive(now, (known.to, category), reply);
            }
        }
    }
}
