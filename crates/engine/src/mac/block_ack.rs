//! Packets from one contender to one receiver: the transmit window of the sender, and the
//! reordering at the receiver (IEEE 802.11-2020, 10.25).
//!
//! ```text
//!   number   0   1   2   3   4   5   6   7   8   9            window of 4
//!            a   a   x   a   .   -   -   -   -   -    a: acknowledged, x: lost, . : not sent yet
//!                    ^           ^
//!          start S --+           +-- first number that may not be sent: S + window
//!          expected E: the receiver has handed up all MPDUs below E, and holds 3
//! ```
//!
//! BlockAcks are never lost, so that the sender knows which MPDUs the receiver has. The sender may
//! give up an MPDU for which the receiver waits. The receiver stops waiting after one of three
//! events: a BlockAckReq, an MPDU beyond the window of the receiver, or a timeout. One object
//! contains the state of the sender and of the receiver, and stores each packet once.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// State of one MPDU at the sender and at the receiver.
#[derive(Clone, Copy, Debug)]
struct Mpdu {
    /// Number of the first packet in the MPDU; packets are counted from 0.
    first: u32,
    packets: u16,
    attempts: u8,
    /// Whether the sender still has to send the MPDU, for the first time or again.
    waits: bool,
    /// Whether the receiver stores the MPDU until earlier MPDUs arrive.
    held: bool,
    /// Whether a packet in the MPDU has data of a transport protocol.
    has_data: bool,
    bytes: u32,
    /// Time at which the MPDU was received.
    received: Time,
}

/// Parameters of a block acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAckParameters {
    /// Largest number of MPDUs that may be sent before the first of these MPDUs is acknowledged.
    /// [MPDUs]
    pub window: u32,
    /// Largest number of attempts for each MPDU; `None`: no limit.
    pub attempts: Option<u32>,
    /// Time for which the receiver waits for a missing MPDU; `None`: no limit.
    pub reorder_timeout: Option<Span>,
    /// Whether there is a block acknowledgement agreement. Without an agreement, the contender
    /// repeats an MPDU until the MPDU is acknowledged or given up, and the receiver does not wait
    /// for missing MPDUs.
    pub agreed: bool,
}

/// State of the sender and of the receiver of the packets from one contender to one receiver.
#[derive(Clone, Debug)]
pub struct BlockAckWindow {
    parameters: BlockAckParameters,
    /// Number of the first MPDU in `mpdus`.
    base: u32,
    /// Number of the first packet in `packets`.
    packets_base: u32,
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    /// Lowest MPDU number that is neither acknowledged nor given up.
    start: u32,
    /// Lowest MPDU number that the receiver waits for.
    expected: u32,
    /// Number of MPDUs that the receiver stores until earlier MPDUs arrive.
    held: u32,
    /// Number of MPDUs that the sender still has to send.
    waiting: u32,
    /// Number of MPDUs in the PPDU on the air. These are the first MPDUs that the sender still has
    /// to send.
    on_air: u32,
}

/// Handler of the packet events that a window reports at the end of an exchange.
pub trait BlockAckEvents {
    /// Records that `packet` is acknowledged, or that the sender has given it up.
    fn settled(&mut self, packet: &Packet, acknowledged: bool);
    /// Records that the receiver passes `packet` to the upper layer (hands it up).
    fn handed_up(&mut self, packet: &Packet);
    /// Records that the receiver now hands up an MPDU with `packets` packets. The receiver has
    /// stored the MPDU since `received`.
    fn released(&mut self, packets: u32, received: Time);
    /// Records that `packet` was received and acknowledged, but too late to be handed up: the
    /// receiver has stopped waiting for this packet.
    fn too_late(&mut self, packet: &Packet);
    /// Records that all `packets` were acknowledged and immediately handed up.
    fn carried(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.settled(packet, true);
            self.handed_up(packet);
        }
    }
}

impl BlockAckWindow {
    /// Returns a window in which no MPDU has been sent.
    pub fn new(parameters: BlockAckParameters) -> BlockAckWindow {
        BlockAckWindow {
            parameters,
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

    /// Returns the parameters of the block acknowledgement.
    pub fn parameters(&self) -> &BlockAckParameters {
        &self.parameters
    }

    /// Returns the lowest MPDU number that is neither acknowledged nor given up.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Returns the number of further MPDUs for which the window has room.
    #[inline]
    pub fn room(&self) -> u32 {
        (self.start + self.parameters.window).saturating_sub(self.next())
    }

    /// Returns the number that the next new MPDU gets.
    #[inline]
    fn next(&self) -> u32 {
        self.base + self.mpdus.len() as u32
    }

    /// Returns the lengths of the MPDUs that are still to be sent, in order. [bytes]
    #[inline]
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let from = (self.start - self.base) as usize;
        self.mpdus
            .range(from..)
            .filter(|mpdu| mpdu.waits)
            .map(|mpdu| mpdu.bytes)
    }

    /// Returns whether any MPDU is still to be sent.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// Returns the length of the first MPDU that is still to be sent. [bytes]
    pub fn first_waiting(&self) -> Option<u32> {
        self.waiting().next()
    }

    /// Returns the number of failed attempts at the first MPDU that is still to be sent.
    pub fn retry(&self) -> u32 {
        let mut waiting = self.mpdus.iter().filter(|mpdu| mpdu.waits);
        waiting.next().map_or(0, |mpdu| u32::from(mpdu.attempts))
    }

    /// Adds a new MPDU of `bytes` that contains `packet`. The caller ensures that the window has
    /// room.
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

    /// Adds a new MPDU for each packet. The length of an MPDU is the length of its packet plus
    /// `headers`. The caller ensures that the window has room. [bytes]
    #[inline]
    pub fn begin_all(&mut self, packets: &[Packet], headers: u32) {
        let first = self.packets_base + self.packets.len() as u32;
        let mpdus = packets.iter().enumerate().map(|(index, packet)| Mpdu {
            first: first + index as u32,
            packets: 1,
            attempts: 0,
            waits: true,
            held: false,
            has_data: packet.is_data(),
            bytes: u32::from(packet.bytes) + headers,
            received: Time::ZERO,
        });
        self.mpdus.extend(mpdus);
        self.packets.extend(packets);
        self.waiting += packets.len() as u32;
    }

    /// Adds `packet` to the newest MPDU, whose length is then `bytes`.
    pub fn join(&mut self, packet: Packet, bytes: u32) {
        if let Some(last) = self.mpdus.back_mut() {
            last.packets += 1;
            last.bytes = bytes;
            last.has_data |= packet.is_data();
            self.packets.push_back(packet);
        }
    }

    /// Begins the transmission of the first `count` MPDUs that are still to be sent.
    #[inline]
    pub fn go(&mut self, count: u32) {
        self.on_air = count;
    }

    /// Returns the number of MPDUs on the air.
    pub fn on_air(&self) -> u32 {
        self.on_air
    }

    /// Returns the MPDUs on the air, in order. Each item contains the number of the MPDU, the
    /// number of earlier attempts at the MPDU, and its packets.
    pub fn ppdu(&self) -> impl Iterator<Item = (u32, u32, impl Iterator<Item = &Packet>)> {
        let numbered = (self.base..)
            .zip(&self.mpdus)
            .filter(|(_, mpdu)| mpdu.waits);
        numbered.take(self.on_air as usize).map(|(number, mpdu)| {
            let packets = self.packets_of(mpdu);
            (
                number,
                u32::from(mpdu.attempts),
                self.packets.range(packets),
            )
        })
    }

    fn packets_of(&self, mpdu: &Mpdu) -> std::ops::Range<usize> {
        let from = (mpdu.first - self.packets_base) as usize;
        from..from + usize::from(mpdu.packets)
    }

    /// Ends the PPDU on the air, all MPDUs of which have been received. Does nothing and returns
    /// false if the sender or the receiver stores an MPDU that is not in this PPDU.
    #[inline]
    pub fn receive_all(&mut self, events: &mut impl BlockAckEvents) -> bool {
        if self.on_air as usize != self.mpdus.len() || self.start != self.expected {
            return false;
        }
        let (front, back) = self.packets.as_slices();
        events.carried(front);
        events.carried(back);
        self.packets_base += self.packets.len() as u32;
        self.base += self.on_air;
        (self.start, self.expected) = (self.base, self.base);
        self.packets.clear();
        self.mpdus.clear();
        (self.on_air, self.waiting) = (0, 0);
        true
    }

    /// Ends the PPDU on the air at `now`. `is_lost` decides whether an MPDU is lost, from the
    /// length of the MPDU [bytes] and whether the MPDU contains data. Returns the number of MPDUs
    /// received.
    pub fn receive(
        &mut self,
        now: Time,
        mut is_lost: impl FnMut(u32, bool) -> bool,
        events: &mut impl BlockAckEvents,
    ) -> u32 {
        if self.on_air as usize == self.mpdus.len() && self.start == self.expected {
            return self.receive_in_order(now, is_lost, events);
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
                    self.acknowledge(now, index, number, events);
                }
            }
            index += 1;
        }
        self.on_air = 0;
        self.advance();
        received
    }

    /// Performs [`BlockAckWindow::receive`] in the simple case: all MPDUs in the window are on the
    /// air and the receiver stores no MPDU. MPDUs before the first lost MPDU are removed
    /// immediately.
    #[inline]
    fn receive_in_order(
        &mut self,
        now: Time,
        mut is_lost: impl FnMut(u32, bool) -> bool,
        events: &mut impl BlockAckEvents,
    ) -> u32 {
        let mut received = 0;
        while let Some(mpdu) = self.mpdus.front_mut() {
            if is_lost(mpdu.bytes, mpdu.has_data) {
                mpdu.attempts = mpdu.attempts.saturating_add(1);
                break;
            }
            for _ in 0..mpdu.packets {
                if let Some(packet) = self.packets.pop_front() {
                    events.settled(&packet, true);
                    events.handed_up(&packet);
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
            self.acknowledge(now, index, number, events);
        }
        self.on_air = 0;
        received
    }

    /// Records that MPDU `number`, at `index` in `mpdus`, is received at `now`.
    #[inline]
    fn acknowledge(
        &mut self,
        now: Time,
        index: usize,
        number: u32,
        events: &mut impl BlockAckEvents,
    ) {
        let own = self.packets_of(&self.mpdus[index]);
        let late = number < self.expected;
        let next = number == self.expected && self.held == 0;
        for packet in self.packets.range(own) {
            events.settled(packet, true);
            if late {
                events.too_late(packet);
            } else if next {
                events.handed_up(packet);
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
        let beyond = (number + 1).saturating_sub(self.parameters.window);
        self.hand_up(beyond, events);
    }

    /// Makes the receiver stop waiting for MPDUs with numbers below `min`. The receiver hands up
    /// the MPDUs that are then in order.
    fn hand_up(&mut self, min: u32, events: &mut impl BlockAckEvents) {
        while self.held > 0 || self.expected < min {
            let index = (self.expected - self.base) as usize;
            let Some(mpdu) = self.mpdus.get_mut(index) else {
                break;
            };
            if !mpdu.held && self.expected >= min {
                break;
            }
            if mpdu.held {
                mpdu.held = false;
                self.held -= 1;
                events.released(u32::from(mpdu.packets), mpdu.received);
                let own = self.packets_of(&self.mpdus[index]);
                self.packets
                    .range(own)
                    .for_each(|packet| events.handed_up(packet));
            }
            self.expected += 1;
        }
    }

    /// Records that no MPDU on the air was received: the PPDU collided, or its RTS was not
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

    /// Gives up the MPDUs that have used all their attempts, or, if `all`, every MPDU that is still
    /// to be sent. Returns whether a BlockAckReq must inform the receiver.
    pub fn give_up(&mut self, all: bool, events: &mut impl BlockAckEvents) -> bool {
        let max = self.parameters.attempts.filter(|_| self.parameters.agreed);
        if !all && max.is_none() {
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
            if all || max.is_some_and(|max| u32::from(mpdu.attempts) >= max) {
                self.mpdus[index].waits = false;
                self.waiting -= 1;
                let own = self.packets_of(&mpdu);
                self.packets
                    .range(own)
                    .for_each(|packet| events.settled(packet, false));
            }
        }
        self.advance();
        if !self.parameters.agreed {
            self.expected = self.expected.max(self.start);
            self.release();
        }
        self.waiting < before && self.expected < self.start
    }

    /// Moves the start of the window of the sender past the MPDUs that are acknowledged or given
    /// up.
    fn advance(&mut self) {
        let next = self.next();
        while self.start < next && !self.mpdus[(self.start - self.base) as usize].waits {
            self.start += 1;
        }
        self.release();
    }

    /// Removes the MPDUs that are acknowledged or given up, and for which the receiver no longer
    /// waits.
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

    /// Returns the number of packets, since the start of the run, in the MPDUs before the start of
    /// the window of the sender. All these packets are acknowledged or given up.
    #[inline]
    pub fn settled_in_order(&self) -> u32 {
        let index = (self.start - self.base) as usize;
        match self.mpdus.get(index) {
            Some(mpdu) => mpdu.first,
            None => self.packets_base + self.packets.len() as u32,
        }
    }

    /// Skips the number of the next packet, because the sender gave up this packet before the
    /// packet was in an MPDU. The caller ensures that the window contains no MPDU.
    pub fn skip_packet(&mut self) {
        self.packets_base += 1;
    }

    /// Moves the window of the receiver to the start of the window of the sender, which a
    /// BlockAckReq has announced.
    pub fn synchronise(&mut self, events: &mut impl BlockAckEvents) {
        let start = self.start;
        self.hand_up(start, events);
        self.release();
    }

    /// Returns when the receiver stops waiting for a missing MPDU; `Time::NEVER` if it does not
    /// wait.
    pub fn deadline(&self) -> Time {
        match (self.first_held(), self.parameters.reorder_timeout) {
            (Some((_, received)), Some(timeout)) => received + timeout,
            _ => Time::NEVER,
        }
    }

    /// Returns the number of the first MPDU that the receiver stores, and the time of its
    /// reception.
    fn first_held(&self) -> Option<(u32, Time)> {
        if self.held == 0 {
            return None;
        }
        let from = (self.expected - self.base) as usize;
        let mut numbered = (self.expected..).zip(self.mpdus.range(from..));
        numbered
            .find(|(_, mpdu)| mpdu.held)
            .map(|(number, mpdu)| (number, mpdu.received))
    }

    /// Makes the receiver stop waiting for missing MPDUs. The caller calls this method at
    /// [`BlockAckWindow::deadline`].
    pub fn time_out(&mut self, events: &mut impl BlockAckEvents) {
        if let Some((number, _)) = self.first_held() {
            self.hand_up(number, events);
            self.release();
        }
    }

    /// Returns all packets in the window: packets that are neither acknowledged nor given up, and
    /// packets that the receiver stores.
    pub fn inside(&self) -> impl Iterator<Item = &Packet> {
        let mpdus = self.mpdus.iter().filter(|mpdu| mpdu.waits || mpdu.held);
        mpdus.flat_map(|mpdu| self.packets.range(self.packets_of(mpdu)))
    }

    /// Returns the packets that are neither acknowledged nor given up.
    pub fn unsettled(&self) -> impl Iterator<Item = &Packet> {
        let mpdus = self.mpdus.iter().filter(|mpdu| mpdu.waits);
        mpdus.flat_map(|mpdu| self.packets.range(self.packets_of(mpdu)))
    }
}
