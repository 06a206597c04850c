//! What contenders of a cell that aggregates send, and what becomes of it.
//!
//! ```text
//!  queue (lanes) --an exchange begins--> form: retries, then new MPDUs --> PPDU on the air
//!                                                                              |
//!      settled: acknowledged or given up <-- window (mac::block_ack) <--losses-+
//!      received in order: handed up  <---------- reordering <--+
//! ```
//!
//! A contender's exchange goes to the receiver of its oldest packet. It is formed when it begins; packets
//! that come in that instant are too late. A BlockAckReq that is due goes before all else.

use std::sync::Arc;

use super::{Hotspot, OffAir};
use crate::channel::Channel;
use crate::kernel::time::{Span, Time};
use crate::mac::aggregation::{ampdu_bytes, amsdu_bytes};
use crate::mac::block_ack::{Fates, Terms, Window};
use crate::mac::dcf::{
    AP, AggregateCounters, Burst, Dcf, DownCounters, NodeCounters, Outcome, Prospect,
};
use crate::mac::ppdu::Modulation;
use crate::mac::way::{Room, Way};
use crate::mac::{self, Aggregation, Station};
use crate::packet::Packet;
use crate::queue::Lanes;

/// All contenders of a cell.
#[derive(Clone, Debug)]
pub(super) struct Aggregates {
    cell: mac::Cell,
    stations: Vec<Station>,
    senders: Vec<Sender>,
    /// Ways that hold something back for an MPDU that is missing: contender, lane.
    reordering: Vec<(u32, u32)>,
    /// When the first of them gives up waiting.
    pub(super) deadline: Time,
    /// Packets that receivers have handed up.
    pub(super) received: Received,
    /// Packets given up on the air, and those that came too late.
    pub(super) lost: Vec<Packet>,
    /// MPDUs to each station.
    down: Vec<DownCounters>,
    /// Which MPDUs of the exchange that ended last were received, if there was a single transmitter.
    judged: Vec<bool>,
}

/// Packets that receivers have handed up, in order for each.
pub(super) type Received = Vec<(OffAir, Packet)>;

/// One contender.
#[derive(Clone, Debug)]
struct Sender {
    node: u32,
    links: Vec<Link>,
    /// What is on the air, or was last.
    sending: Sending,
    /// The lane whose receiver is to be told of the window's start, and attempts made so far.
    bar: Option<(u32, u32)>,
    /// Packets acknowledged, and given up.
    delivered: u64,
    discarded: u64,
}

/// What a contender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Nothing.
    Nothing,
    /// MPDUs of a lane.
    Data(u32),
    /// A BlockAckReq to the receiver of a lane.
    Bar(u32),
}

/// The way from a contender to a receiver.
#[derive(Clone, Debug)]
struct Link {
    way: Way,
    window: Window,
    terms: Aggregation,
    counters: AggregateCounters,
}

/// Takes what the two ends of a way get rid of to where it belongs.
struct Sorting<'a> {
    queue: &'a mut Lanes,
    received: &'a mut Received,
    lost: &'a mut Vec<Packet>,
    off: OffAir,
    now: Time,
    /// End of the response: acknowledged packets leave their places then.
    done: Time,
    delivered: u64,
    discarded: u64,
    counters: &'a mut AggregateCounters,
}

impl Fates for Sorting<'_> {
    #[inline]
    fn settled(&mut self, packet: &Packet, acknowledged: bool) {
        if acknowledged {
            self.delivered += 1;
            self.queue.settle(self.now, packet, self.done);
        } else {
            self.discarded += 1;
            self.queue.settle(self.now, packet, self.now);
            self.lost.push(*packet);
        }
    }

    #[inline]
    fn handed_up(&mut self, packet: &Packet) {
        self.counters.handed_up += 1;
        self.received.push((self.off, *packet));
    }

    #[inline]
    fn released(&mut self, packets: u32, received: Time) {
        self.counters.waited_ns += u64::from(packets) * self.now.since(received).0;
    }

    #[inline]
    fn too_late(&mut self, packet: &Packet) {
        self.lost.push(*packet);
    }

    #[inline]
    fn carried(&mut self, packets: &[Packet]) {
        self.delivered += packets.len() as u64;
        self.counters.handed_up += packets.len() as u64;
        self.queue.settle_all(self.now, packets, self.done);
        let off = self.off;
        let handed_up = packets.iter().map(|packet| (off, *packet));
        self.received.extend(handed_up);
    }
}

impl Aggregates {
    /// Nothing has been sent; `None` if the cell has no aggregates.
    pub(super) fn new(hotspot: Hotspot, medium: &Dcf) -> Option<Box<Aggregates>> {
        hotspot.cell.ppdus?;
        let Hotspot { cell, stations, .. } = hotspot;
        let sender = |contender: u32| {
            let node = medium.node(contender);
            let receivers = match node {
                AP => 1..=stations.len() as u32,
                _ => AP..=AP,
            };
            let link = |to| Link::new(cell, stations, medium, contender, to);
            Sender {
                node,
                links: receivers.map(link).collect(),
                sending: Sending::Nothing,
                bar: None,
                delivered: 0,
                discarded: 0,
            }
        };
        Some(Box::new(Aggregates {
            cell: cell.clone(),
            stations: stations.to_vec(),
            senders: (0..medium.contenders() as u32).map(sender).collect(),
            reordering: Vec::new(),
            deadline: Time::NEVER,
            received: Received::new(),
            lost: Vec::new(),
            down: vec![DownCounters::default(); stations.len()],
            judged: Vec::new(),
        }))
    }

    /// Lanes of a contender's queue, and that of each flow.
    pub(super) fn lanes(hotspot: Hotspot, node: u32, stations: &[u32]) -> (usize, Arc<[u32]>) {
        match node {
            AP => {
                let lanes = stations.iter().map(|&station| station.saturating_sub(1));
                (hotspot.stations.len(), lanes.collect())
            }
            _ => (1, Arc::from([])),
        }
    }

    /// The shortest exchange with which `contender` could go on, if it has something to send.
    pub(super) fn prospect(
        &mut self,
        contender: u32,
        queue: &Lanes,
        medium: &Dcf,
    ) -> Option<Prospect> {
        let headers = self.cell.frame_bytes(0);
        let sender = &mut self.senders[contender as usize];
        if let Some((lane, _)) = sender.bar {
            let (data_air, response_air) = sender.links[lane as usize].way.bar();
            return Some(Prospect {
                data_air,
                response_air,
                gives_up: false,
            });
        }
        let lane = queue.next()?;
        let link = &mut sender.links[lane as usize];
        let (data_air, response_air) = match medium.has_limit(contender) {
            false => (Span::ZERO, Span::ZERO), // nobody asks
            true => {
                let first = link.window.first_waiting();
                let new = queue.first(lane);
                let bytes = first.or(new.map(|packet| u32::from(packet.bytes) + headers));
                link.way.alone(bytes.unwrap_or(0))
            }
        };
        Some(Prospect {
            data_air,
            response_air,
            gives_up: !link.window.terms().agreed,
        })
    }

    /// Forms what `contender` sends in the exchange that begins.
    pub(super) fn form(&mut self, contender: u32, queue: &mut Lanes, medium: &Dcf) -> Burst {
        let (left, opens) = medium.opportunity(contender);
        let sender = &mut self.senders[contender as usize];
        let lane = match (sender.bar, queue.next()) {
            (Some((lane, _)), _) => {
                sender.sending = Sending::Bar(lane);
                let to = receiver(sender.node, lane);
                return sender.links[lane as usize].way.bar_burst(to);
            }
            (None, lane) => lane.unwrap_or(0), // a contender that sends has something
        };
        let Link {
            way, window, terms, ..
        } = &mut sender.links[lane as usize];
        let mut filling = Filling {
            way,
            room: way.room(left, opens),
            mpdus: terms.mpdus,
            count: 0,
            subframes: 0,
            psdu: 0,
        };
        let mut goes_on = true;
        for bytes in window.waiting() {
            goes_on = filling.add(bytes);
            if !goes_on {
                break;
            }
        }
        let headers = self.cell.frame_bytes(0);
        if goes_on && terms.amsdu_bytes.is_none() {
            let mut room = window.room();
            queue.take_while(lane, |packet| {
                let bytes = u32::from(packet.bytes) + headers;
                let takes = room > 0 && filling.add(bytes);
                if takes {
                    room -= 1;
                    window.begin(*packet, bytes);
                }
                takes
            });
            goes_on = false;
        }
        while goes_on
            && window.room() > 0
            && let Some(first) = queue.first(lane)
        {
            let bytes = u32::from(first.bytes) + headers;
            if !filling.add(bytes) {
                break;
            }
            if let Some(packet) = queue.take(lane) {
                window.begin(packet, bytes);
            }
            if let Some(most) = terms.amsdu_bytes {
                let headers = (self.cell.mac_header_bytes, self.cell.llc_bytes);
                filling.widen(bytes, headers, most, lane, queue, window);
            }
        }
        let (count, psdu) = (filling.count, filling.psdu);
        let several = count > 1;
        window.go(count);
        let burst = way.burst(receiver(sender.node, lane), psdu, several, opens);
        sender.sending = Sending::Data(lane);
        burst
    }

    /// The exchange of `contender`, the only one, ends at `now`, its response at `done`; tells whether
    /// anything was received.
    pub(super) fn receive(
        &mut self,
        now: Time,
        done: Time,
        contender: u32,
        queue: &mut Lanes,
        medium: &mut Dcf,
    ) -> bool {
        self.judged.clear();
        let sender = &mut self.senders[contender as usize];
        let Sending::Data(lane) = sender.sending else {
            return true;
        };
        let Link {
            way,
            window,
            counters,
            ..
        } = &mut sender.links[lane as usize];
        let count = window.on_air();
        counters.ppdus += 1;
        counters.mpdus += u64::from(count);
        let judged = &mut self.judged;
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: off_air(sender.node),
            now,
            done,
            delivered: 0,
            discarded: 0,
            counters,
        };
        let received = match way.is_clean() && window.receive_all(&mut sorting) {
            true => {
                judged.resize(count as usize, true);
                count
            }
            false => {
                let is_lost = |bytes, has_data| {
                    let lost = medium.is_lost(contender, way.error(bytes, has_data));
                    judged.push(!lost);
                    lost
                };
                window.receive(now, is_lost, &mut sorting)
            }
        };
        let (delivered, packets) = (sorting.delivered, window.settled_in_order());
        queue.settled(lane, packets);
        sender.delivered += delivered;
        if sender.node == AP {
            let down = &mut self.down[lane as usize];
            down.attempts += judged.len() as u64;
            down.failed += judged.len() as u64 - u64::from(received);
            down.delivered += delivered;
        }
        self.watch(now, contender, lane);
        received > 0
    }

    /// Which MPDUs of the exchange that ended last were received, if there was a single transmitter that
    /// sent some.
    pub(super) fn judged(&self) -> &[bool] {
        &self.judged
    }

    /// After the exchange that ended at `now`: what becomes of what `contender` sent in it, and what has
    /// been given up inside the node (`discarded`).
    pub(super) fn settle(
        &mut self,
        now: Time,
        contender: u32,
        outcome: Outcome,
        (sent, discarded, behind_rts): (bool, bool, bool),
        queue: &mut Lanes,
    ) {
        let sender = &mut self.senders[contender as usize];
        let sending = match sent {
            true => std::mem::replace(&mut sender.sending, Sending::Nothing),
            false => match queue.next() {
                Some(lane) => Sending::Data(lane), // what it would have sent
                None => Sending::Nothing,
            },
        };
        let delivered = matches!(outcome, Outcome::Delivered { .. });
        if outcome == Outcome::Collided {
            self.judged.clear();
        }
        let (Sending::Data(lane) | Sending::Bar(lane)) = sending else {
            return;
        };
        let Link {
            window,
            terms,
            counters,
            ..
        } = &mut sender.links[lane as usize];
        if let (Sending::Data(_), Outcome::Collided, true, false) =
            (sending, outcome, sent, behind_rts)
        {
            counters.ppdus += 1;
            counters.mpdus += u64::from(window.on_air());
        }
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: off_air(sender.node),
            now,
            done: now,
            delivered: 0,
            discarded: 0,
            counters,
        };
        if let Sending::Bar(_) = sending {
            sender.bar = match sender.bar {
                _ if delivered => {
                    window.told(&mut sorting);
                    None
                }
                Some((_, attempts)) if terms.attempts.is_some_and(|most| attempts + 1 >= most) => {
                    None
                }
                Some((_, attempts)) => Some((lane, attempts + 1)),
                None => None,
            };
        } else {
            let collided = outcome == Outcome::Collided && sent;
            let count = window.on_air();
            let several = count > 1 || self.judged.len() > 1;
            if collided {
                window.fail();
            }
            if sender.node == AP && collided {
                let down = &mut self.down[lane as usize];
                down.attempts += u64::from(count);
                down.failed += u64::from(count);
            }
            let agreed = window.terms().agreed;
            if !sent
                && discarded
                && !window.waits()
                && let Some(packet) = sorting.queue.take(lane)
            {
                sorting.settled(&packet, false);
                window.pass_by();
            }
            let ignorant = window.give_up(discarded && !agreed, &mut sorting);
            let unanswered = several && sent && !delivered && !(collided && behind_rts);
            if ignorant || terms.bar_after_failure && agreed && unanswered {
                sender.bar = Some((lane, 0));
            }
        }
        let lost = sorting.discarded;
        sender.discarded += lost;
        if sender.node == AP {
            self.down[lane as usize].discarded += lost;
        }
        let packets = window.settled_in_order();
        queue.settled(lane, packets);
        self.watch(now, contender, lane);
    }

    /// Keeps in mind whether the receiver of a lane holds something back.
    #[inline]
    fn watch(&mut self, now: Time, contender: u32, lane: u32) {
        let window = &self.senders[contender as usize].links[lane as usize].window;
        if window.deadline() < Time::NEVER || !self.reordering.is_empty() {
            self.keep_watch(now, contender, lane);
        }
    }

    #[inline(never)]
    fn keep_watch(&mut self, now: Time, contender: u32, lane: u32) {
        let of = |(contender, lane): (u32, u32)| {
            self.senders[contender as usize].links[lane as usize]
                .window
                .deadline()
        };
        let mut reordering = std::mem::take(&mut self.reordering);
        if !reordering.contains(&(contender, lane)) {
            reordering.push((contender, lane));
        }
        reordering.retain(|&one| of(one) < Time::NEVER);
        let first = reordering.iter().map(|&one| of(one)).min();
        // one that has waited long enough behind another is due at once
        self.deadline = first.map_or(Time::NEVER, |first| first.max(now));
        self.reordering = reordering;
    }

    /// Receivers that have waited long enough at `now` hand up what they hold.
    pub(super) fn time_out(&mut self, now: Time) {
        self.reordering.sort_unstable();
        for &(contender, lane) in &self.reordering {
            let sender = &mut self.senders[contender as usize];
            let Link {
                window, counters, ..
            } = &mut sender.links[lane as usize];
            let mut up = HandingUp {
                received: &mut self.received,
                off: off_air(sender.node),
                now,
                counters,
            };
            while window.deadline() <= now {
                window.time_out(&mut up);
            }
        }
        if let Some(&(contender, lane)) = self.reordering.first() {
            self.keep_watch(now, contender, lane);
        }
    }

    /// Station number `station`, counted from 0, has this `channel` from now on.
    pub(super) fn change_channel(&mut self, station: usize, channel: &Channel, medium: &Dcf) {
        let node = station as u32 + 1;
        for (contender, sender) in (0..).zip(&mut self.senders) {
            let lane = match sender.node {
                AP => station,
                own if own == node => 0,
                _ => continue,
            };
            let ends = (sender.node, receiver(sender.node, lane as u32));
            let link = &mut sender.links[lane];
            let limit = access_of(&self.cell, &self.stations, medium, contender).txop_limit;
            link.way = Way::new(
                &self.cell,
                &self.stations,
                ends,
                &link.terms,
                limit,
                channel,
            );
        }
    }

    /// What `contender` has sent, in packets where they are acknowledged or given up.
    pub(super) fn counters(&self, contender: u32, medium: NodeCounters) -> NodeCounters {
        let sender = &self.senders[contender as usize];
        NodeCounters {
            delivered: sender.delivered,
            discarded: sender.discarded,
            ..medium
        }
    }

    /// MPDUs from the access point to a station.
    pub(super) fn down(&self, station: usize) -> DownCounters {
        self.down[station]
    }

    /// What `contender` has sent.
    pub(super) fn sent(&self, contender: u32) -> AggregateCounters {
        let links = self.senders[contender as usize].links.iter();
        let sum = AggregateCounters::default();
        links.fold(sum, |sum, link| sum.with(link.counters))
    }

    /// What the access point has sent to a station.
    pub(super) fn sent_to(&self, station: usize) -> AggregateCounters {
        let of_ap = self.senders.iter().filter(|sender| sender.node == AP);
        let sum = AggregateCounters::default();
        of_ap.fold(sum, |sum, sender| sum.with(sender.links[station].counters))
    }

    /// What `contender` has on the air.
    pub(super) fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        let sender = &self.senders[contender as usize];
        let (lane, is_bar) = match sender.sending {
            Sending::Nothing => return None,
            Sending::Bar(lane) => (lane, true),
            Sending::Data(lane) => (lane, false),
        };
        let Link {
            way, window, terms, ..
        } = &sender.links[lane as usize];
        Some(OnAir {
            to: receiver(sender.node, lane),
            mpdus: (!is_bar).then_some(window),
            window,
            modulation: way.modulation(),
            block_ack_bytes: terms.block_ack_bytes(),
            bar_attempts: sender.bar.map_or(0, |(_, attempts)| attempts),
        })
    }

    /// Packets in service, and those that receivers hold.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Packet> {
        let links = self.senders.iter().flat_map(|sender| &sender.links);
        links.flat_map(|link| link.window.inside())
    }

    /// Packets in service of a contender.
    pub(super) fn in_service(&self, contender: u32) -> impl Iterator<Item = &Packet> {
        let links = self.senders[contender as usize].links.iter();
        links.flat_map(|link| link.window.unsettled())
    }
}

/// What a contender has on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir<'a> {
    /// Receiving node.
    pub to: u32,
    /// The window with the MPDUs, [`Window::ppdu`]; `None`: a BlockAckReq.
    pub mpdus: Option<&'a Window>,
    /// The window of the way to the receiver.
    pub window: &'a Window,
    /// How data on that way are modulated; `None`: as frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Length of a BlockAck in answer. [bytes]
    pub block_ack_bytes: u32,
    /// Attempts made before at the BlockAckReq that is due.
    pub bar_attempts: u32,
}

/// Hands up what was held.
struct HandingUp<'a> {
    received: &'a mut Received,
    off: OffAir,
    now: Time,
    counters: &'a mut AggregateCounters,
}

impl Fates for HandingUp<'_> {
    fn settled(&mut self, _: &Packet, _: bool) {}

    fn handed_up(&mut self, packet: &Packet) {
        self.counters.handed_up += 1;
        self.received.push((self.off, *packet));
    }

    fn released(&mut self, packets: u32, received: Time) {
        self.counters.waited_ns += u64::from(packets) * self.now.since(received).0;
    }

    fn too_late(&mut self, _: &Packet) {}
}

/// A PPDU that is being filled.
struct Filling<'a> {
    way: &'a Way,
    room: Room,
    mpdus: u32,
    count: u32,
    /// Length of the subframes of an A-MPDU. [bytes]
    subframes: u32,
    psdu: u32,
}

impl Filling<'_> {
    /// Adds an MPDU, if it has room; the first always has.
    #[inline(always)]
    fn add(&mut self, mpdu_bytes: u32) -> bool {
        if self.count == 0 {
            self.psdu = self.way.psdu_of_one(mpdu_bytes);
            self.subframes = ampdu_bytes(0, mpdu_bytes);
            self.count = 1;
            return true;
        }
        let subframes = ampdu_bytes(self.subframes, mpdu_bytes);
        if self.count >= self.mpdus || !self.way.fits(&self.room, subframes, true) {
            return false;
        }
        (self.subframes, self.psdu) = (subframes, subframes);
        self.count += 1;
        true
    }

    /// Adds to the MPDU added last, of `bytes` with one packet, what else may share it: an A-MSDU of at
    /// most `most` bytes.
    fn widen(
        &mut self,
        bytes: u32,
        (mac_header, llc): (u32, u32),
        most: u32,
        lane: u32,
        queue: &mut Lanes,
        window: &mut Window,
    ) {
        let mut mpdu = bytes;
        let mut amsdu = amsdu_bytes(0, bytes - mac_header);
        while let Some(next) = queue.first(lane) {
            let wider = amsdu_bytes(amsdu, u32::from(next.bytes) + llc);
            if wider > most {
                break;
            }
            let subframes = self.subframes - mpdu + wider + mac_header;
            let several = self.count > 1;
            let psdu = match several {
                true => subframes,
                false => self.way.psdu_of_one(wider + mac_header),
            };
            if !self.way.fits(&self.room, psdu, several) {
                break;
            }
            mpdu = wider + mac_header;
            (amsdu, self.subframes, self.psdu) = (wider, subframes, psdu);
            if let Some(packet) = queue.take(lane) {
                window.join(packet, mpdu);
            }
        }
    }
}

impl Link {
    fn new(cell: &mac::Cell, stations: &[Station], medium: &Dcf, contender: u32, to: u32) -> Link {
        let from = medium.node(contender);
        let station = &stations[from.max(to) as usize - 1];
        let of = |node: u32| match node {
            AP => cell.ap.aggregation,
            _ => station.node.aggregation,
        };
        let generation = station.modulation.map(|one| one.generation);
        let usual = Aggregation::OFF;
        let terms = of(from).unwrap_or(usual).with(generation);
        let limit = access_of(cell, stations, medium, contender).txop_limit;
        let way = Way::new(cell, stations, (from, to), &terms, limit, &station.channel);
        Link {
            way,
            window: Window::new(Terms {
                window: terms.mpdus,
                attempts: terms.attempts,
                reorder_timeout: of(to).unwrap_or(usual).reorder_timeout,
                agreed: terms.mpdus > 1,
            }),
            terms,
            counters: AggregateCounters::default(),
        }
    }
}

/// Access parameters of a contender.
fn access_of<'a>(
    cell: &'a mac::Cell,
    stations: &'a [Station],
    medium: &Dcf,
    contender: u32,
) -> &'a mac::Access {
    let node = match medium.node(contender) {
        AP => &cell.ap,
        station => &stations[station as usize - 1].node,
    };
    node.access(medium.category(contender))
}

/// The receiver of a lane of a contender of `node`.
fn receiver(node: u32, lane: u32) -> u32 {
    match node {
        AP => lane + 1,
        _ => AP,
    }
}

/// Where what `node` sends comes off the air.
fn off_air(node: u32) -> OffAir {
    match node {
        AP => OffAir::AtStation,
        _ => OffAir::AtAccessPoint,
    }
}
