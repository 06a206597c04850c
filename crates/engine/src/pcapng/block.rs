//! Writes pcapng blocks in little-endian byte order: section header, interface description,
//! enhanced packet.

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

/// Appends the section header block: byte order, version 1.0, unknown length, and the names of the
/// program and the scenario.
pub(super) fn section_header(out: &mut Vec<u8>, scenario_name: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        out.extend_from_slice(&1u16.to_le_bytes());
        out.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(&u64::MAX.to_le_bytes());
        option(out, OPT_COMMENT, scenario_name.as_bytes());
        let program = concat!("lasthop ", env!("CARGO_PKG_VERSION"));
        option(out, SHB_USERAPPL, program.as_bytes());
        option(out, OPT_END, &[]);
    });
}

/// Appends the interface description block of the only interface. Time stamps are in nanoseconds,
/// and there is no snap length.
pub(super) fn interface(out: &mut Vec<u8>, link_type: u16) {
    block(out, INTERFACE_DESCRIPTION, |out| {
        out.extend_from_slice(&link_type.to_le_bytes());
        out.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(&0u32.to_le_bytes());
        option(out, IF_NAME, b"cell");
        option(out, IF_TSRESOL, &[9]); // time stamps in units of 10^-9 s
        option(out, OPT_END, &[]);
    });
}

/// Appends one captured frame with the time stamp `at` [ns]. An empty comment is omitted.
pub(super) fn packet(out: &mut Vec<u8>, at: u64, frame: &[u8], comment: &str) {
    let length = (frame.len() as u32).to_le_bytes();
    block(out, ENHANCED_PACKET, |out| {
        out.extend_from_slice(&0u32.to_le_bytes()); // index of the interface
        out.extend_from_slice(&((at >> 32) as u32).to_le_bytes());
        out.extend_from_slice(&(at as u32).to_le_bytes());
        out.extend_from_slice(&length);
        out.extend_from_slice(&length);
        padded(out, frame);
        if !comment.is_empty() {
            option(out, OPT_COMMENT, comment.as_bytes());
            option(out, OPT_END, &[]);
        }
    });
}

/// Appends a block: type, total length, body, and the total length again.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let total = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&total);
    out.extend_from_slice(&total);
}

/// Appends an option: code, length and value. A value that exceeds the maximum length is truncated
/// at the end of a UTF-8 character.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let mut length = value.len().min(usize::from(u16::MAX));
    while length < value.len() && value[length] & 0xC0 == 0x80 {
        length -= 1;
    }
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(length as u16).to_le_bytes());
    padded(out, &value[..length]);
}

/// Appends `bytes`, padded with zeros to a multiple of four bytes.
fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len() + bytes.len().next_multiple_of(4) - bytes.len(), 0);
}
