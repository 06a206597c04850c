//! How a sender forms an exchange: which MPDUs fit into a PPDU, and which packets fit into an MPDU.

use lasthop_engine::kernel::time::{Span, Time};

use super::super::super::node::Packet;
use super::super::hop::Hop;
use super::super::lengths;
use super::{Exchange, Mpdu, Sender, Sent};

impl Sender {
    /// Returns the duration of the shortest possible next exchange, up to the end of its response.
    pub fn smallest(&self, hop: &Hop) -> Span {
        let sifs = hop.cell().phy.sifs;
        if self.due.is_some() {
            return hop.block_ack_req() + sifs + hop.block_ack();
        }
        let to = self.receiver().expect("something to send");
        let formed = self.windows.get(&to).and_then(|window| {
            let (_, first) = window.under_way.first_key_value()?;
            Some(first.packets.clone())
        });
        let alone = || self.waiting(to).take(1).collect();
        let packets = formed.unwrap_or_else(alone);
        let mpdu_bytes = mpdu_bytes(hop, &packets);
        hop.ppdu(&[mpdu_bytes]) + sifs + hop.response(1)
    }

    /// Forms the exchange that begins at `now` in a TXOP that lasts until `ends`. `opens` is true for the first
    /// exchange of the TXOP.
    pub fn form(&mut self, hop: &Hop, now: Time, opens: bool, ends: Time) -> &Exchange {
        let to = self.receiver().expect("something to send");
        let exchange = if self.due.is_some() {
            Exchange {
                to,
                sent: Sent::BlockAckReq,
                data: hop.block_ack_req(),
                response: hop.block_ack(),
                rts: false,
            }
        } else {
            let room = Room {
                hop,
                now,
                opens,
                ends,
            };
            let mpdus = self.aggregate(to, &room);
            let lengths: Vec<u32> = mpdus.iter().map(|(_, bytes)| *bytes).collect();
            let named = |&(number, _): &(u32, u32)| {
                let packets = self.packets(to, number);
                (number, packets.iter().map(|packet| packet.id).collect())
            };
            Exchange {
                to,
                sent: Sent::Mpdus(mpdus.iter().map(named).collect()),
                data: hop.ppdu(&lengths),
                response: hop.response(lengths.len()),
                rts: opens && hop.needs_rts(&lengths),
            }
        };
        self.exchange.insert(exchange)
    }

    /// Returns sequence numbers and lengths of the MPDUs to node `to` that fit into a PPDU: first MPDUs that were
    /// formed before, then new MPDUs. The first MPDU that does not fit ends the PPDU.
    fn aggregate(&mut self, to: u32, room: &Room) -> Vec<(u32, u32)> {
        let hop = room.hop;
        let window = self.windows.entry(to).or_default();
        let start = window.start();
        let mut mpdus: Vec<(u32, u32)> = Vec::new();
        for (&number, mpdu) in &window.under_way {
            let bytes = mpdu_bytes(hop, &mpdu.packets);
            if !room.has_for(&mpdus, bytes) {
                return mpdus;
            }
            mpdus.push((number, bytes));
        }
        loop {
            let number = self.windows[&to].next;
            let waiting: Vec<Packet> = self.waiting(to).collect();
            let Some(first) = waiting.first() else {
                return mpdus;
            };
            let mut packets = vec![*first];
            let in_window = number < start + hop.window();
            if !in_window || !room.has_for(&mpdus, mpdu_bytes(hop, &packets)) {
                return mpdus;
            }
            for &another in &waiting[1..] {
                let more = [packets.as_slice(), &[another]].concat();
                let ip_bytes: Vec<u32> = more.iter().map(|packet| packet.ip_bytes).collect();
                if !hop.may_share(&ip_bytes) || !room.has_within(&mpdus, mpdu_bytes(hop, &more)) {
                    break;
                }
                packets = more;
            }
            mpdus.push((number, mpdu_bytes(hop, &packets)));
            self.give_number(to, packets);
        }
    }

    /// Forms the next MPDU from these packets.
    fn give_number(&mut self, to: u32, packets: Vec<Packet>) {
        let window = self.windows.entry(to).or_default();
        let number = window.next;
        window.next += 1;
        for queued in &mut self.queue {
            if packets.iter().any(|packet| packet.id == queued.packet.id) {
                queued.number = Some(number);
            }
        }
        let mpdu = Mpdu {
            packets,
            attempts: 0,
            received: false,
        };
        window.under_way.insert(number, mpdu);
    }
}

fn mpdu_bytes(hop: &Hop, packets: &[Packet]) -> u32 {
    let ip_bytes: Vec<u32> = packets.iter().map(|packet| packet.ip_bytes).collect();
    lengths::mpdu(hop.cell(), &ip_bytes)
}

/// Limits of the PPDU to form.
struct Room<'a> {
    hop: &'a Hop<'a>,
    /// Time at which the exchange begins.
    now: Time,
    /// Whether the exchange is the first exchange of its TXOP.
    opens: bool,
    /// End of the TXOP.
    ends: Time,
}

impl Room<'_> {
    /// Returns whether an MPDU of `bytes` may join `mpdus` in the PPDU. The first MPDU always fits: it is the first of
    /// the TXOP, or was checked when the TXOP was continued.
    fn has_for(&self, mpdus: &[(u32, u32)], bytes: u32) -> bool {
        mpdus.is_empty() || self.has_within(mpdus, bytes)
    }

    /// Returns whether a PPDU with `mpdus` and an MPDU of `bytes` is within all limits.
    fn has_within(&self, mpdus: &[(u32, u32)], bytes: u32) -> bool {
        let before = mpdus.iter().map(|(_, bytes)| *bytes);
        let lengths: Vec<u32> = before.chain([bytes]).collect();
        let protected = self.opens && self.hop.needs_rts(&lengths);
        let protection = if protected {
            self.hop.protection()
        } else {
            Span::ZERO
        };
        let sifs = self.hop.cell().phy.sifs;
        let answer = sifs + self.hop.response(lengths.len());
        let end = self.now + protection + self.hop.ppdu(&lengths) + answer;
        self.hop.may_aggregate(&lengths) && end <= self.ends
    }
}
