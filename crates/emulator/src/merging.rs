//! Merges TCP segments that are due at the same instant into one packet for a host. This is the
//! generic receive offload of a network card's driver (net/ipv4/tcp_offload.c, `tcp_gro_receive`).
//! The host's TCP processes and acknowledges the merged packet like a single segment.
//!
//! Differs from Linux: only successive packets of one connection are merged, and at most 32 packets
//! of one instant (64 in one NAPI poll of Linux).

use std::io::IoSlice;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::pcapng::{folded, sum_of};

use crate::Delivery;
use crate::ip::TCP;
use crate::offload::{HEADER, TCP_CHECKSUM, WHOLE, of_several, pseudo_header};

/// Longest IP packet. [bytes]
const LONGEST: usize = 65_535;
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// Offsets in a TCP header: sequence number, acknowledgement number, header length and flags.
const SEQUENCE: usize = 4;
const ACKNOWLEDGED: usize = 8;
const OFFSET: usize = 12;
const FLAGS: usize = 13;
/// Position of the checksum in an IP header. [bytes]
const IP_CHECKSUM: std::ops::Range<usize> = 10..12;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Packets that are delivered to a node in one write: a single packet, or successive segments of one
/// connection.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Whether successive segments are merged.
    merges: bool,
    packets: Vec<Delivery>,
    /// Length of the IP and TCP headers of each segment. [bytes]
    headers: usize,
    /// Payload length of the first segment. No later segment has a longer payload. [bytes]
    size: usize,
    /// Expected sequence number of the next segment.
    next: u32,
    /// Length of the merged packet. [bytes]
    bytes: usize,
    /// Whether another segment may be added.
    is_open: bool,
}

/// Properties of a segment that decide whether it can be merged.
struct Segment {
    ip: usize,
    headers: usize,
    data: usize,
    flags: u8,
    sequence: u32,
}

impl Segment {
    /// Returns the properties of a TCP segment with data. Returns `None` for other packets, for
    /// fragments, and for segments with flags that prevent merging.
    fn of(packet: &[u8]) -> Option<Segment> {
        let ip = usize::from(*packet.first()? & 0x0F) * 4;
        let is_fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3FFF != 0;
        let tcp = packet.get(ip..)?;
        if ip != IP_HEADER || packet[9] != TCP || is_fragment || tcp.len() < TCP_HEADER {
            return None;
        }
        let headers = ip + usize::from(tcp[OFFSET] >> 4) * 4;
        let data = packet.len().checked_sub(headers)?;
        let flags = tcp[FLAGS];
        let number =
            |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let is_plain = flags & !(FIN | PSH) == ACK;
        (is_plain && data > 0).then(|| Segment {
            ip,
            headers,
            data,
            flags,
            sequence: number(SEQUENCE),
        })
    }
}

impl Batch {
    /// Returns an empty batch. With `merges`, successive segments become one packet.
    pub(crate) fn new(merges: bool) -> Batch {
        Batch {
            merges,
            ..Batch::default()
        }
    }

    /// Adds `delivery` to the batch. Returns `delivery` if it cannot be merged with the batch and must
    /// begin the next batch.
    pub(crate) fn join(&mut self, delivery: Delivery) -> Option<Delivery> {
        let segment = self.merges.then(|| Segment::of(&delivery.bytes)).flatten();
        if let Some(first) = self.packets.first() {
            let Some(segment) = segment.filter(|segment| self.takes(segment, first, &delivery))
            else {
                return Some(delivery);
            };
            self.bytes += segment.data;
            self.next = segment.sequence.wrapping_add(segment.data as u32);
            self.is_open = segment.data == self.size && segment.flags == ACK;
        } else if let Some(segment) = segment {
            self.headers = segment.headers;
            self.size = segment.data;
            self.next = segment.sequence.wrapping_add(segment.data as u32);
            self.bytes = delivery.bytes.len();
            self.is_open = segment.flags == ACK;
        } else {
            self.is_open = false;
        }
        self.packets.push(delivery);
        None
    }

    /// Returns whether `segment` can be merged: it continues the last segment of the batch and has
    /// equal header fields.
    fn takes(&self, segment: &Segment, first: &Delivery, delivery: &Delivery) -> bool {
        let (own, other) = (&first.bytes, &delivery.bytes);
        let ip = segment.ip;
        let same = |range: std::ops::Range<usize>| own[range.clone()] == other[range];
        self.is_open
            && first.node == delivery.node
            && segment.headers == self.headers
            && segment.sequence == self.next
            && segment.data <= self.size
            && self.bytes + segment.data <= LONGEST
            // type of service with the ECN field; then time to live and protocol; then addresses
            // and ports
            && same(1..2)
            && same(8..10)
            && same(12..ip + SEQUENCE)
            // acknowledgement number, window and options
            && same(ip + ACKNOWLEDGED..ip + FLAGS)
            && same(ip + FLAGS + 1..ip + FLAGS + 3)
            && same(ip + TCP_HEADER..self.headers)
    }

    /// Returns the due time of each packet.
    pub(crate) fn due(&self) -> impl Iterator<Item = Time> {
        self.packets.iter().map(|packet| packet.due)
    }

    /// Returns whether the batch has no packets.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Writes the batch and empties it. `write` is called with the number of the destination node and the pieces of one
    /// packet: its `virtio_net_hdr`, then its bytes. Does nothing if the batch is empty.
    pub(crate) fn hand_over<E>(
        &mut self,
        write: impl FnOnce(u32, &[IoSlice<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let header = self.headed();
        let written = match &self.packets[..] {
            [] => Ok(()),
            [packet] => write(
                packet.node,
                &[IoSlice::new(&header), IoSlice::new(&packet.bytes)],
            ),
            [first, others @ ..] => {
                let head = [IoSlice::new(&header), IoSlice::new(&first.bytes)];
                let data = others
                    .iter()
                    .map(|packet| IoSlice::new(&packet.bytes[self.headers..]));
                let pieces: Vec<IoSlice<'_>> = head.into_iter().chain(data).collect();
                write(first.node, &pieces)
            }
        };
        self.packets.clear();
        written
    }

    /// Returns the `virtio_net_hdr` of the merged packet. If the batch has several segments,
    /// changes the headers of the first segment into those of the merged packet.
    fn headed(&mut self) -> [u8; HEADER] {
        let [first, .., last] = &mut self.packets[..] else {
            return WHOLE;
        };
        let (first, flags) = (&mut first.bytes, last.bytes[IP_HEADER + FLAGS]);
        first[2..4].copy_from_slice(&(self.bytes as u16).to_be_bytes());
        first[IP_CHECKSUM].fill(0);
        let sum = !folded(sum_of(&first[..IP_HEADER]));
        first[IP_CHECKSUM].copy_from_slice(&sum.to_be_bytes());
        first[IP_HEADER + FLAGS] |= flags;
        let pseudo = folded(pseudo_header(first, self.bytes - IP_HEADER));
        first[IP_HEADER + TCP_CHECKSUM..][..2].copy_from_slice(&pseudo.to_be_bytes());
        of_several(self.headers, self.size)
    }
}

#[cfg(test)]
mod tests;
