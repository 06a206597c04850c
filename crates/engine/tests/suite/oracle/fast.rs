//! Driver that runs the engine's cell, without the engine's queues, and records a trace in the
//! format of the oracle.

use std::collections::VecDeque;

use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::mac::NodeId;
use lasthop_engine::mac::dcf::{self, Content, Dcf, Frame, SingleFrame};
use lasthop_engine::scenario::Scenario;

use super::contention::Who;
use super::medium::{Arrival, Attempt, FIRST_REPLY, Outcome, Trace};
use super::node::Packet;

/// A contender's queue. The driver passes the frame of the first packet to the engine's cell. The
/// packet stays in the queue until the frame is delivered or discarded.
struct Queue {
    limit: usize,
    waiting: VecDeque<Packet>,
    /// End of the MAC ACK of the last delivered packet. Until this time the packet still counts in
    /// the queue length.
    leaves: Time,
    failures: u32,
}

struct Driver {
    cell: Dcf,
    exchange: SingleFrame,
    queues: Vec<Queue>,
    replies: u32,
    trace: Trace,
}

fn frame(packet: &Packet) -> Frame {
    Frame {
        to: NodeId(packet.to),
        ip_bytes: packet.ip_bytes,
        content: Content::Data,
    }
}

/// Runs the engine's cell with `arrivals` (sorted by time) until no packet is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], streams: &Streams) -> Trace {
    let bss = scenario.only_bss();
    let cell = scenario.hotspot().medium(streams);
    let queue = |contender| {
        let node = match bss.roles.station_of(cell.node(contender)) {
            None => &bss.cell.ap,
            Some(station) => &scenario.stations[station].node,
        };
        Queue {
            limit: node.queue.limit_packets as usize,
            waiting: VecDeque::new(),
            leaves: Time::ZERO,
            failures: 0,
        }
    };
    let mut driver = Driver {
        queues: (0..cell.contenders() as u32).map(queue).collect(),
        cell,
        exchange: SingleFrame::new(bss, &scenario.stations, streams),
        replies: 0,
        trace: Trace::default(),
    };
    for arrival in arrivals {
        while driver.deadline() <= arrival.at {
            driver.exchange_ends();
        }
        driver.arrive(arrival.at, arrival.who, arrival.packet);
    }
    while driver.deadline() < Time::NEVER {
        driver.exchange_ends();
    }
    driver.trace
}

impl Driver {
    fn deadline(&mut self) -> Time {
        self.cell.deadline(&self.exchange)
    }

    fn who(&self, contender: u32) -> Who {
        (self.cell.node(contender).0, self.cell.category(contender))
    }

    fn arrive(&mut self, now: Time, who: Who, packet: Packet) {
        let contender = self.cell.contender(NodeId(who.0), who.1);
        let queue = &mut self.queues[contender as usize];
        if queue.waiting.len() + usize::from(now < queue.leaves) >= queue.limit {
            self.trace.dropped.push((now, who, packet.id));
            return;
        }
        queue.waiting.push_back(packet);
        if queue.waiting.len() == 1 {
            self.cell
                .backlog(now, contender, frame(&packet), &mut self.exchange);
        }
    }

    fn exchange_ends(&mut self) {
        self.cell.begins(&self.exchange);
        let outcome = self.cell.end_exchange(&mut self.exchange);
        let exchange = self.cell.exchange();
        for &contender in self.cell.transmitters() {
            let who = self.who(contender);
            let queue = &mut self.queues[contender as usize];
            self.trace.attempts.push(Attempt {
                start: exchange.start,
                who,
                packet: queue.waiting[0].id,
                rts: self.cell.protection(contender).is_some(),
                retry: queue.failures > 0,
                outcome: match outcome {
                    dcf::Outcome::Delivered { .. } => Outcome::Delivered,
                    dcf::Outcome::Corrupted => Outcome::Corrupted,
                    dcf::Outcome::Collided => Outcome::Collided,
                    dcf::Outcome::Begins => unreachable!("no frame is formed late"),
                },
            });
            queue.failures += 1;
        }
        for contender in self.cell.discarded().to_vec() {
            let who = self.who(contender);
            let packet = self.next(contender);
            self.trace.discarded.push((exchange.end, who, packet.id));
        }
        if let dcf::Outcome::Delivered { from, done } = outcome {
            let (sender, category) = self.who(from);
            let packet = self.next(from);
            self.queues[from as usize].leaves = done;
            self.trace
                .deliveries
                .push((exchange.end, packet.to, packet.id));
            if let Some(ip_bytes) = packet.reply_bytes {
                let id = FIRST_REPLY + self.replies;
                self.replies += 1;
                let reply = Packet {
                    id,
                    to: sender,
                    ip_bytes,
                    reply_bytes: None,
                };
                self.arrive(exchange.end, (packet.to, category), reply);
            }
        }
    }

    /// Removes the first packet of `contender`'s queue and gives the next packet to the cell.
    /// Returns the removed packet.
    fn next(&mut self, contender: u32) -> Packet {
        let queue = &mut self.queues[contender as usize];
        queue.failures = 0;
        let packet = queue
            .waiting
            .pop_front()
            .expect("a node that transmits has a packet");
        let next = queue.waiting.front().map(frame);
        self.cell.proceed(contender, next, &mut self.exchange);
        packet
    }
}
