//! Packets of one contender for one receiver: the transmit window, and the order at the receiver
//! (IEEE 802.11-2020, 10.25).
//!
//! ```text
//!   number   0   1   2   3   4   5   6   7   8   9            window of 4
//!            a   a   x   a   .   -   -   -   -   -    a: acknowledged, x: lost, . : not sent yet
//!                    ^           ^
//!          start S --+           +-- first number that may not be sent: S + window
//!          expected E: the receiver has handed up all below, and holds 3
//! ```
//!
//! BlockAcks are never lost, so that the sender knows what the receiver has; what the receiver does not
//! know is what the sender has given up, until a BlockAckReq, an MPDU beyond its window or its time-out
//! tells it. Both ends are therefore kept in one place, in which each packet lies once.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// One MPDU.
#[derive(Clone, Copy, Debug)]
struct Mpdu {
    /// Ordinal of its first packet.
    first: u32,
    packets: u16,
    attempts: u8,
    /// Whether the sender still has to send it.
    waits: bool,
    /// Whether the receiver holds it.
    held: bool,
    /// Whether a packet in it has data of a transport.
    has_data: bool,
    bytes: u32,
    /// When it was received.
    received: Time,
}

/// Limits of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// MPDUs that may be under way.
    pub window: u32,
    /// Attempts for each; `None`: no limit.
    pub attempts: Option<u32>,
    /// How long the receiver waits for one that is missing; `None`: as long as it takes.
    pub reorder_timeout: Option<Span>,
    /// Whether there is a block acknowledgement; without one an MPDU is sent until the contender gives up,
    /// and its receiver waits for nothing.
    pub agreed: bool,
}

/// Both ends of the way from a contender to a receiver.
#[derive(Clone, Debug)]
pub struct Window {
    terms: Terms,
    /// Number of the first of `mpdus`.
    base: u32,
    /// Ordinal of the first of `packets`.
    packets_base: u32,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    /// The lowest number that is neither acknowledged nor given up.
    start: u32,
    /// The lowest number that the receiver waits for.
    expected: u32,
    /// MPDUs that the receiver holds.
    held: u32,
    /// MPDUs that the sender still has to send.
    waiting: u32,
    /// Those among them that are in the PPDU on the air.
    on_air: u32,
}

/// What becomes of packets at the end of an exchange.
pub trait Fates {
    /// The sender has got rid of the packet: it was acknowledged, or given up.
    fn settled(&mut self, packet: &Packet, acknowledged: bool);
    /// The receiver hands the packet up.
    fn handed_up(&mut self, packet: &Packet);
    /// The receiver now hands up an MPDU of so many packets that it has held since it was `received`.
    fn released(&mut self, packets: u32, received: Time);
    /// The receiver has no use for a packet that it has acknowledged: it comes too late.
    fn too_late(&mut self, packet: &Packet);
    /// All of these were acknowledged and are handed up.
    fn carried(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.settled(packet, true);
            self.handed_up(packet);
        }
    }
}

impl Window {
    /// Nothing has been sent.
    pub fn new(terms: Terms) -> Window {
        Window {
            terms,
            base: 0,
            packets_base: 0,
            mpdus: VecDeque::new(),
            packets: VecDeque::new(),
            start: 0,
            expected: 0,
            held: 0,
            waiting: 0,
            on_air: 0,
        }
    }

    /// Its limits.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The lowest number that is neither acknowledged nor given up.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// How many more MPDUs may get a number.
    #[inline]
    pub fn room(&self) -> u32 {
        (self.start + self.terms.window).saturating_sub(self.next())
    }

    /// Number of the next MPDU that is formed.
    #[inline]
    fn next(&self) -> u32 {
        self.base + self.mpdus.len() as u32
    }

    /// Lengths of the MPDUs that are still to be sent, in order. [bytes]
    #[inline]
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let from = (self.start - self.base) as usize;
        self.mpdus
            .range(from..)
            .filter(|one| one.waits)
            .map(|one| one.bytes)
    }

    /// Whether an MPDU is still to be sent.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// The first MPDU that is still to be sent has so many bytes.
    pub fn first_waiting(&self) -> Option<u32> {
        self.waiting().next()
    }

    /// Begins an MPDU of `bytes` with `packet`; there is room.
    #[inline(always)]
    pub fn begin(&mut self, packet: Packet, bytes: u32) {
        self.mpdus.push_back(Mpdu {
            first: self.packets_base + self.packets.len() as u32,
            packets: 1,
            attempts: 0,
            waits: true,
            held: false,
            has_data: packet.is_data(),
            bytes,
            received: Time::ZERO,
        });
        self.packets.push_back(packet);
        self.waiting += 1;
    }

    /// Adds `packet` to the MPDU begun last, which has `bytes` then.
    pub fn join(&mut self, packet: Packet, bytes: u32) {
        if let Some(last) = self.mpdus.back_mut() {
            last.packets += 1;
            last.bytes = bytes;
            last.has_data |= packet.is_data();
            self.packets.push_back(packet);
        }
    }

    /// The first `count` MPDUs that are still to be sent go on the air.
    #[inline]
    pub fn go(&mut self, count: u32) {
        self.on_air = count;
    }

    /// MPDUs on the air.
    pub fn on_air(&self) -> u32 {
        self.on_air
    }

    /// The MPDUs on the air, in order: number, attempts before, and packets.
    pub fn ppdu(&self) -> impl Iterator<Item = (u32, u32, impl Iterator<Item = &Packet>)> {
        let numbered = (self.base..).zip(&self.mpdus).filter(|(_, one)| one.waits);
        numbered.take(self.on_air as usize).map(|(number, one)| {
            let packets = self.packets_of(one);
            (number, u32::from(one.attempts), self.packets.range(packets))
        })
    }

    fn packets_of(&self, mpdu: &Mpdu) -> std::ops::Range<usize> {
        let from = (mpdu.first - self.packets_base) as usize;
        from..from + usize::from(mpdu.packets)
    }

    /// The PPDU on the air ends, and all of it is received; returns whether that could be done at once, since
    /// nothing else is inside.
    #[inline]
    pub fn receive_all(&mut self, fates: &mut impl Fates) -> bool {
        if self.on_air as usize != self.mpdus.len() || self.start != self.expected {
            return false;
        }
        let (front, back) = self.packets.as_slices();
        fates.carried(front);
        fates.carried(back);
        self.packets_base += self.packets.len() as u32;
        self.base += self.on_air;
        (self.start, self.expected) = (self.base, self.base);
        self.packets.clear();
        self.mpdus.clear();
        (self.on_air, self.waiting) = (0, 0);
        true
    }

    /// The PPDU on the air ends at `now`. `is_lost` judges its MPDUs, by length [bytes] and whether there is
    /// data in them. Returns how many were received.
    pub fn receive(
        &mut self,
        now: Time,
        mut is_lost: impl FnMut(u32, bool) -> bool,
        fates: &mut impl Fates,
    ) -> u32 {
        if self.on_air as usize == self.mpdus.len() && self.start == self.expected {
            return self.receive_in_order(now, is_lost, fates);
        }
        let (mut received, mut left) = (0, self.on_air);
        let mut index = (self.start - self.base) as usize;
        while left > 0 {
            let mpdu = &mut self.mpdus[index];
            if mpdu.waits {
                left -= 1;
                if is_lost(mpdu.bytes, mpdu.has_data) {
                    mpdu.attempts = mpdu.attempts.saturating_add(1);
                } else {
                    mpdu.waits = false;
                    received += 1;
                    self.waiting -= 1;
                    let number = self.base + index as u32;
                    self.acknowledge(now, index, number, fates);
                }
            }
            index += 1;
        }
        self.on_air = 0;
        self.advance();
        received
    }

    /// The same where all that is inside is on the air and the receiver holds nothing: up to the first MPDU
    /// that is lost each is done with at once.
    #[inline]
    fn receive_in_order(
        &mut self,
        now: Time,
        mut is_lost: impl FnMut(u32, bool) -> bool,
        fates: &mut impl Fates,
    ) -> u32 {
        let mut received = 0;
        while let Some(mpdu) = self.mpdus.front_mut() {
            if is_lost(mpdu.bytes, mpdu.has_data) {
                mpdu.attempts = mpdu.attempts.saturating_add(1);
                break;
            }
            for _ in 0..mpdu.packets {
                if let Some(packet) = self.packets.pop_front() {
                    fates.settled(&packet, true);
                    fates.handed_up(&packet);
                }
            }
            self.packets_base += u32::from(mpdu.packets);
            self.mpdus.pop_front();
            received += 1;
        }
        self.base += received;
        (self.start, self.expected) = (self.base, self.base);
        self.waiting -= received;
        for index in 1..self.mpdus.len() {
            let mpdu = &mut self.mpdus[index];
            if is_lost(mpdu.bytes, mpdu.has_data) {
                mpdu.attempts = mpdu.attempts.saturating_add(1);
                continue;
            }
            mpdu.waits = false;
            received += 1;
            self.waiting -= 1;
            let number = self.base + index as u32;
            self.acknowledge(now, index, number, fates);
        }
        self.on_air = 0;
        received
    }

    /// The MPDU at `index` is received at `now`.
    #[inline]
    fn acknowledge(&mut self, now: Time, index: usize, number: u32, fates: &mut impl Fates) {
        let own = self.packets_of(&self.mpdus[index]);
        let late = number < self.expected;
        let next = number == self.expected && self.held == 0;
        for packet in self.packets.range(own) {
            fates.settled(packet, true);
            if late {
                fates.too_late(packet);
            } else if next {
                fates.handed_up(packet);
            }
        }
        if late {
            return;
        }
        if next {
            self.expected += 1;
            return;
        }
        let mpdu = &mut self.mpdus[index];
        mpdu.held = true;
        mpdu.received = now;
        self.held += 1;
        let beyond = (number + 1).saturating_sub(self.terms.window);
        self.hand_up(beyond, fates);
    }

    /// The receiver waits for nothing below `least`, and hands up what it holds in order.
    fn hand_up(&mut self, least: u32, fates: &mut impl Fates) {
        while self.held > 0 || self.expected < least {
            let index = (self.expected - self.base) as usize;
            let Some(mpdu) = self.mpdus.get_mut(index) else {
                break;
            };
            if !mpdu.held && self.expected >= least {
                break;
            }
            if mpdu.held {
                mpdu.held = false;
                self.held -= 1;
                fates.released(u32::from(mpdu.packets), mpdu.received);
                let own = self.packets_of(&self.mpdus[index]);
                self.packets
                    .range(own)
                    .for_each(|packet| fates.handed_up(packet));
            }
            self.expected += 1;
        }
    }

    /// The first `count` MPDUs on the air were not received, nor any other: the PPDU collided, or no RTS was
    /// answered.
    pub fn fail(&mut self) {
        let mut left = self.on_air;
        let from = (self.start - self.base) as usize;
        for mpdu in self.mpdus.range_mut(from..) {
            if left == 0 {
                break;
            }
            if mpdu.waits {
                left -= 1;
                mpdu.attempts = mpdu.attempts.saturating_add(1);
            }
        }
        self.on_air = 0;
    }

    /// Gives up what has had all its attempts; `all` that waits, if it is given up for another reason.
    /// Returns whether the receiver is to be told.
    pub fn give_up(&mut self, all: bool, fates: &mut impl Fates) -> bool {
        let most = self.terms.attempts.filter(|_| self.terms.agreed);
        if !all && most.is_none() {
            return false;
        }
        let before = self.waiting;
        let mut left = before;
        for index in (self.start - self.base) as usize..self.mpdus.len() {
            if left == 0 {
                break;
            }
            let mpdu = self.mpdus[index];
            if !mpdu.waits {
                continue;
            }
            left -= 1;
            if all || most.is_some_and(|most| u32::from(mpdu.attempts) >= most) {
                self.mpdus[index].waits = false;
                self.waiting -= 1;
                let own = self.packets_of(&mpdu);
                self.packets
                    .range(own)
                    .for_each(|packet| fates.settled(packet, false));
            }
        }
        self.advance();
        if !self.terms.agreed {
            self.expected = self.expected.max(self.start);
            self.release();
        }
        self.waiting < before && self.expected < self.start
    }

    /// The sender's window moves past all that is settled.
    fn advance(&mut self) {
        let next = self.next();
        while self.start < next && !self.mpdus[(self.start - self.base) as usize].waits {
            self.start += 1;
        }
        self.release();
    }

    /// Forgets what neither end has a use for.
    #[inline]
    fn release(&mut self) {
        let done = self.start.min(self.expected);
        while self.base < done
            && let Some(mpdu) = self.mpdus.pop_front()
        {
            self.base += 1;
            for _ in 0..mpdu.packets {
                self.packets.pop_front();
            }
            self.packets_base += u32::from(mpdu.packets);
        }
    }

    /// Packets of all MPDUs below the sender's start, so far.
    #[inline]
    pub fn settled_in_order(&self) -> u32 {
        let index = (self.start - self.base) as usize;
        match self.mpdus.get(index) {
            Some(mpdu) => mpdu.first,
            None => self.packets_base + self.packets.len() as u32,
        }
    }

    /// A packet that would have been the next has been given up before it had an MPDU; nothing else is
    /// inside.
    pub fn pass_by(&mut self) {
        self.packets_base += 1;
    }

    /// A BlockAckReq has told the receiver of the sender's start.
    pub fn told(&mut self, fates: &mut impl Fates) {
        let start = self.start;
        self.hand_up(start, fates);
        self.release();
    }

    /// When the receiver gives up waiting for what is missing.
    pub fn deadline(&self) -> Time {
        match (self.first_held(), self.terms.reorder_timeout) {
            (Some((_, received)), Some(timeout)) => received + timeout,
            _ => Time::NEVER,
        }
    }

    /// Number of the first MPDU that the receiver holds, and when it was received.
    fn first_held(&self) -> Option<(u32, Time)> {
        if self.held == 0 {
            return None;
        }
        let from = (self.expected - self.base) as usize;
        let mut numbered = (self.expected..).zip(self.mpdus.range(from..));
        numbered
            .find(|(_, one)| one.held)
            .map(|(number, one)| (number, one.received))
    }

    /// The deadline has come.
    pub fn time_out(&mut self, fates: &mut impl Fates) {
        if let Some((number, _)) = self.first_held() {
            self.hand_up(number, fates);
            self.release();
        }
    }

    /// Packets inside: those that the sender has not got rid of, and those that the receiver holds.
    pub fn inside(&self) -> impl Iterator<Item = &Packet> {
        let mpdus = self.mpdus.iter().filter(|one| one.waits || one.held);
        mpdus.flat_map(|one| self.packets.range(self.packets_of(one)))
    }

    /// Packets that the sender has not got rid of.
    pub fn unsettled(&self) -> impl Iterator<Item = &Packet> {
        let mpdus = self.mpdus.iter().filter(|one| one.waits);
        mpdus.flat_map(|one| self.packets.range(self.packets_of(one)))
    }
}
