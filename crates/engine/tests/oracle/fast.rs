//! Drives the engine's cell with queues of its own and writes the oracle's trace.

use std::collections::VecDeque;

use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::mac::dcf::{self, Dcf, Frame};
use lasthop_engine::scenario::Scenario;

use crate::medium::{Arrival, Attempt, FIRST_REPLY, Outcome, Trace};
use crate::node::Packet;

/// A node's queue; the head is with the cell.
struct Queue {
    limit: usize,
    waiting: VecDeque<Packet>,
    /// A delivered packet takes its place until the end of the MAC ACK.
    leaves: Time,
    failures: u32,
}

struct Driver {
    cell: Dcf,
    queues: Vec<Queue>,
    replies: u32,
    trace: Trace,
}

fn frame(packet: &Packet) -> Frame {
    Frame {
        to: packet.to,
        ip_bytes: packet.ip_bytes,
    }
}

/// Plays `arrivals` (in order of time) to the engine's cell until nothing is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], streams: &Streams) -> Trace {
    let accesses =
        std::iter::once(&scenario.cell.ap).chain(scenario.stations.iter().map(|s| &s.node));
    let queue = |limit: u32| Queue {
        limit: limit as usize,
        waiting: VecDeque::new(),
        leaves: Time::ZERO,
        failures: 0,
    };
    let mut driver = Driver {
        cell: Dcf::new(scenario, streams),
        queues: accesses.map(|access| queue(access.queue_packets)).collect(),
        replies: 0,
        trace: Trace::default(),
    };
    for arrival in arrivals {
        while driver.cell.deadline() <= arrival.at {
            driver.exchange_ends();
        }
        driver.arrive(arrival.at, arrival.node, arrival.packet);
    }
    while driver.cell.deadline() < Time::NEVER {
        driver.exchange_ends();
    }
    driver.trace
}

impl Driver {
    fn arrive(&mut self, now: Time, node: u32, packet: Packet) {
        let queue = &mut self.queues[node as usize];
        if queue.waiting.len() + usize::from(now < queue.leaves) >= queue.limit {
            self.trace.dropped.push((now, node, packet.id));
            return;
        }
        queue.waiting.push_back(packet);
        if queue.waiting.len() == 1 {
            self.cell.backlog(now, node, frame(&packet));
        }
    }

    fn exchange_ends(&mut self) {
        let outcome = self.cell.advance();
        let exchange = self.cell.exchange();
        for &node in self.cell.transmitters() {
            let queue = &mut self.queues[node as usize];
            self.trace.attempts.push(Attempt {
                start: exchange.start,
                node,
                packet: queue.waiting[0].id,
                rts: self.cell.protection(node).is_some(),
                retry: queue.failures > 0,
                outcome: match outcome {
                    dcf::Outcome::Delivered { .. } => Outcome::Delivered,
                    dcf::Outcome::Corrupted => Outcome::Corrupted,
                    dcf::Outcome::Collided => Outcome::Collided,
                },
            });
            queue.failures += 1;
        }
        if let dcf::Outcome::Delivered { from, done } = outcome {
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
                    to: from,
                    ip_bytes,
                    reply_bytes: None,
                };
                self.arrive(exchange.end, packet.to, reply);
            }
        }
        for node in self.cell.discarded().to_vec() {
            let packet = self.next(node);
            self.trace.discarded.push((exchange.end, node, packet.id));
        }
    }

    /// The head of `node`'s queue is done with; hands the next one to the cell.
    fn next(&mut self, node: u32) -> Packet {
        let queue = &mut self.queues[node as usize];
        queue.failures = 0;
        let packet = queue
            .waiting
            .pop_front()
            .expect("a node that transmits has a packet");
        self.cell.proceed(node, queue.waiting.front().map(frame));
        packet
    }
}
