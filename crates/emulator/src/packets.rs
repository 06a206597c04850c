//! Packets for tests.

/// Returns a TCP packet of `bytes` from one address and port to another.
pub(crate) fn tcp((from, from_port): (u32, u16), (to, to_port): (u32, u16), bytes: u16) -> Vec<u8> {
    let mut packet = vec![0; usize::from(bytes)];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&bytes.to_be_bytes());
    packet[9] = 6;
    packet[12..16].copy_from_slice(&from.to_be_bytes());
    packet[16..20].copy_from_slice(&to.to_be_bytes());
    packet[20..22].copy_from_slice(&from_port.to_be_bytes());
    packet[22..24].copy_from_slice(&to_port.to_be_bytes());
    packet[32] = 0x50;
    packet
}

/// Returns an ICMP echo request, or an echo reply, of 84 bytes with this identifier.
pub(crate) fn echo(from: u32, to: u32, is_request: bool, identifier: u16) -> Vec<u8> {
    let mut packet = tcp((from, 0), (to, 0), 84);
    packet[9] = 1;
    packet[20] = if is_request { 8 } else { 0 };
    packet[24..26].copy_from_slice(&identifier.to_be_bytes());
    packet
}
