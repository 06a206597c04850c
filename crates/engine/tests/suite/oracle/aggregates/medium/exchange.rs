//! An exchange on the medium, frame by frame: RTS, CTS, PPDU, response, and the frames after them in the TXOP.

use lasthop_engine::kernel::time::Time;

use super::super::super::contention::Who;
use super::super::super::medium::FIRST_REPLY;
use super::super::super::node::Packet;
use super::super::hop::Hop;
use super::super::receiver::{Reordering, Taken};
use super::super::sender::Sent;
use super::super::trace::Outcome;
use super::{Frame, Kind, Medium, Next};

impl Medium<'_> {
    /// Handles the end of a frame that did not collide.
    pub(super) fn good_frame(&mut self, frame: Frame) {
        let owner = frame.owner;
        match frame.kind {
            Kind::Rts => {
                let exchange = self.senders[owner].exchange.as_ref();
                let exchange = exchange.expect("an exchange");
                let sifs = self.sifs();
                self.nav = self.now + sifs + self.hop(owner).cts();
                self.nav = self.nav + sifs + exchange.data + sifs + exchange.response;
                self.after_sifs(Kind::Cts, owner);
            }
            Kind::Cts => self.after_sifs(Kind::Data, owner),
            Kind::Data => self.data_ends(frame),
            Kind::Response => {
                let hop = self.hop(owner);
                let sender = &mut self.senders[owner];
                let left = sender.acknowledged();
                sender.contender.succeeded(self.draws);
                let who = sender.who;
                let left = left.iter().map(|packet| (self.now, who, packet.id));
                self.trace.acknowledged.extend(left);
                if !self.goes_on(owner) {
                    self.close(owner, &hop);
                }
            }
            Kind::CfEnd => {}
        }
    }

    fn after_sifs(&mut self, kind: Kind, owner: usize) {
        let begins = self.now + self.sifs();
        let frame = self.frame(begins, kind, owner);
        self.next = Some((begins, Next::Frame(frame)));
    }

    /// Handles the end of a PPDU or BlockAckReq that did not collide. Channel errors decide which MPDUs are received.
    fn data_ends(&mut self, frame: Frame) {
        let hop = self.hop(frame.owner);
        let sender = &self.senders[frame.owner];
        let (who, exchange) = (sender.who, sender.exchange.clone());
        let exchange = exchange.expect("an exchange");
        let to = exchange.to;
        let mut taken = Taken::default();
        if exchange.sent == Sent::BlockAckReq {
            let start = self.senders[frame.owner].start(to);
            self.receiver(&hop, who, to).move_to(start, &mut taken);
        } else {
            let mut received = exchange.numbers();
            received.retain(|_| !self.draws.corrupted(who, to));
            if received.is_empty() {
                self.unreadable = true;
                self.await_ack(frame, false);
                return;
            }
            for &number in &received {
                let packets = self.senders[frame.owner].packets(to, number);
                let now = self.now;
                let receiver = self.receiver(&hop, who, to);
                receiver.take(now, number, packets, &mut taken);
            }
            let expected = self.expected(who, to);
            let given_up = self.senders[frame.owner].answered(&hop, &received, expected);
            self.give_up(frame.owner, given_up);
            let attempt = self.trace.attempts.last_mut();
            attempt.expect("the PPDU on the air").outcome = Outcome::Received(received);
        }
        self.settle();
        self.after_sifs(Kind::Response, frame.owner);
        self.hand_up(who, to, taken);
    }

    fn receiver(&mut self, hop: &Hop, who: Who, to: u32) -> &mut Reordering {
        let new = || Reordering::new(hop.window(), hop.reorder_timeout());
        self.receivers.entry((who, to)).or_insert_with(new)
    }

    /// Returns the sequence number that node `to` expects next from `who`.
    pub(super) fn expected(&self, who: Who, to: u32) -> u32 {
        let receiver = self.receivers.get(&(who, to));
        receiver.map_or(0, Reordering::start)
    }

    /// Delivers packets of `from` to node `to`, which may reply immediately.
    fn hand_up(&mut self, from: Who, to: u32, taken: Taken) {
        let late = taken.too_late.iter();
        let late = late.map(|packet| (self.now, to, packet.id));
        self.trace.too_late.extend(late);
        for packet in taken.handed_up {
            self.trace.handed_up.push((self.now, to, packet.id));
            let Some(ip_bytes) = packet.reply_bytes else {
                continue;
            };
            let reply = Packet {
                id: FIRST_REPLY + self.replies,
                to: from.0,
                ip_bytes,
                reply_bytes: None,
            };
            self.replies += 1;
            self.arrive((to, from.1), reply);
        }
    }

    /// Returns the earliest reorder time-out (now, if it has expired), and the sender and receiver of the MPDUs that
    /// wait for it.
    pub(super) fn first_time_out(&self) -> Option<(Time, (Who, u32))> {
        let deadlines = self.receivers.iter().filter_map(|(&flow, receiver)| {
            let deadline = receiver.deadline()?;
            Some((deadline.max(self.now), flow))
        });
        deadlines.min()
    }

    pub(super) fn time_out(&mut self, (who, to): (Who, u32)) {
        let mut taken = Taken::default();
        let receiver = self.receivers.get_mut(&(who, to));
        receiver.expect("it holds something").time_out(&mut taken);
        self.hand_up(who, to, taken);
    }

    /// Returns, at the end of the response, whether the next exchange of `owner` follows after SIFS.
    fn goes_on(&mut self, owner: usize) -> bool {
        if !self.senders[owner].has_something() {
            return false;
        }
        let begins = self.now + self.sifs();
        let end = begins + self.senders[owner].smallest(&self.hop(owner));
        let goes_on = self.senders[owner].contender.goes_on(end);
        if goes_on {
            self.next = Some((begins, Next::Exchange(owner)));
        }
        goes_on
    }

    /// Sends a CF-End frame after the last response of a TXOP, at the rate of an RTS to the same receiver.
    fn close(&mut self, owner: usize, hop: &Hop) {
        let begins = self.now + self.sifs();
        let end = begins + hop.rts();
        if self.scenario.bss[0].cell.cf_end && self.senders[owner].contender.closes(end) {
            let kind = Kind::CfEnd;
            self.next = Some((begins, Next::Frame(Frame { end, kind, owner })));
        }
    }
}
