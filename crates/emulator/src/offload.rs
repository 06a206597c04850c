//! Converts packets from the format of a TUN interface with offloads. Each packet is preceded by a header
//! (`virtio_net_hdr`), which describes the work that the kernel leaves to the device (VirtIO 1.2, section 5.1.6;
//! linux/virtio_net.h).
//!
//! The kernel does not cut a large TCP packet into segments or compute its checksum. This module
//! cuts the packet as a device would (segmentation offload, section 5.1.6.2). Packets in the
//! network are therefore complete, as on a wire.

use lasthop_engine::pcapng::{folded, sum_of};

/// Length of a `virtio_net_hdr`. [bytes]
pub(crate) const HEADER: usize = 10;

/// Header of a packet that needs no segmentation and no checksum.
pub(crate) const WHOLE: [u8; HEADER] = [0; HEADER];

/// Returns the header of a packet that contains several TCP segments. Each segment has at most
/// `size` bytes of data, and `headers` is the length of the IP and TCP headers. The kernel expects
/// the sum of the pseudo-header in the TCP checksum field.
pub(crate) fn of_several(headers: usize, size: usize) -> [u8; HEADER] {
    let mut header = WHOLE;
    (header[0], header[1]) = (NEEDS_CHECKSUM, TCP_IPV4);
    let words = [headers, size, IP_HEADER, TCP_CHECKSUM];
    for (place, word) in header[2..].chunks_exact_mut(2).zip(words) {
        place.copy_from_slice(&(word as u16).to_ne_bytes());
    }
    header
}

/// Largest number of bytes per read: the header and the longest IP packet. [bytes]
pub(crate) const MOST: usize = HEADER + 65_535;

const NEEDS_CHECKSUM: u8 = 1;
/// Values of the header field that says whether and how a packet must be cut into segments. The
/// highest bit means that the packet has an ECN mark.
const NONE: u8 = 0;
const TCP_IPV4: u8 = 1;
const HAS_ECN: u8 = 0x80;

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// Largest total length of the IPv4 and TCP headers. [bytes]
const LONGEST_HEADERS: usize = 120;
/// Offset of the checksum in a TCP header.
pub(crate) const TCP_CHECKSUM: usize = 16;
/// TCP flags that only the last of several segments has (FIN, PSH), and the flag that only the
/// first segment has (CWR).
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// Passes each packet in `read` to `take`. Returns the number of packets, which is 0 for data that
/// no kernel sends.
pub(crate) fn each_packet(read: &mut [u8], mut take: impl FnMut(&[u8])) -> usize {
    let Some((header, packet)) = read.split_at_mut_checked(HEADER) else {
        return 0;
    };
    let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let (flags, kind) = (header[0], header[1] & !HAS_ECN);
    let (size, start, offset) = (word(4), word(6), word(8));
    match kind {
        NONE if flags & NEEDS_CHECKSUM == 0 => {
            take(packet);
            1
        }
        NONE => match complete(packet, start, offset) {
            Some(()) => {
                take(packet);
                1
            }
            None => 0,
        },
        TCP_IPV4 if size > 0 => cut(packet, size, take).unwrap_or(0),
        _ => 0,
    }
}

/// Computes the checksum of the bytes from `start` on. The checksum field is `offset` bytes after
/// `start`, and must contain the sum of the pseudo-header before the call.
fn complete(packet: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let summed = packet.get_mut(start..)?;
    let sum = !folded(sum_of(summed));
    // in a UDP header, a checksum of zero means that there is no checksum (RFC 768)
    let sum = if sum == 0 { 0xFFFF } else { sum };
    let place = summed.get_mut(offset..offset + 2)?;
    place.copy_from_slice(&sum.to_be_bytes());
    Some(())
}

/// Cuts a TCP packet into segments of `size` bytes of data and passes each segment to `take`.
/// Returns `None` if the packet is not a TCP packet.
///
/// The headers of each segment overwrite the end of the previous segment, which `take` has already
/// received.
fn cut(packet: &mut [u8], size: usize, mut take: impl FnMut(&[u8])) -> Option<usize> {
    let ip = usize::from(*packet.first()? & 0x0F) * 4;
    let tcp = usize::from(*packet.get(ip + 12)? >> 4) * 4;
    let headers = ip + tcp;
    if ip < IP_HEADER || tcp < TCP_HEADER || packet.len() < headers {
        return None;
    }
    let mut model = [0; LONGEST_HEADERS];
    let model = &mut model[..headers];
    model.copy_from_slice(&packet[..headers]);
    let identification = u16::from_be_bytes([model[4], model[5]]);
    let sequence = ip + 4;
    let first = u32::from_be_bytes([
        model[sequence],
        model[sequence + 1],
        model[sequence + 2],
        model[sequence + 3],
    ]);
    let flags = model[ip + 13];
    let data = packet.len() - headers;
    let count = data.div_ceil(size).max(1);
    for number in 0..count {
        let begin = number * size;
        let length = headers + size.min(data - begin);
        let segment = &mut packet[begin..begin + length];
        segment[..headers].copy_from_slice(model);
        segment[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let own = identification.wrapping_add(number as u16);
        segment[4..6].copy_from_slice(&own.to_be_bytes());
        let own = first.wrapping_add(begin as u32);
        segment[sequence..sequence + 4].copy_from_slice(&own.to_be_bytes());
        let mut remaining = flags;
        if number + 1 < count {
            remaining &= !FIN_PSH;
        }
        if number > 0 {
            remaining &= !CWR;
        }
        segment[ip + 13] = remaining;
        segment[10..12].fill(0);
        let sum = !folded(sum_of(&segment[..ip]));
        segment[10..12].copy_from_slice(&sum.to_be_bytes());
        let place = ip + TCP_CHECKSUM;
        let pseudo = folded(pseudo_header(segment, length - ip));
        segment[place..place + 2].copy_from_slice(&pseudo.to_be_bytes());
        complete(segment, ip, TCP_CHECKSUM)?;
        take(segment);
    }
    Some(count)
}

/// Returns the sum of the pseudo-header, which contains addresses, protocol and length (RFC 9293,
/// section 3.1).
pub(crate) fn pseudo_header(packet: &[u8], length: usize) -> u64 {
    sum_of(&packet[12..20]) + u64::from(packet[9]) + length as u64
}

#[cfg(test)]
mod tests;
