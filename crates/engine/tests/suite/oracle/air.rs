//! Frame durations from the formulas of the standard, in integer nanoseconds.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::scenario::{Access, Cell, PhyKind};

/// Length of a MAC ACK and of a CTS. [bytes]
pub const ACK_BYTES: u32 = 14;
/// Length of an RTS. [bytes]
pub const RTS_BYTES: u32 = 20;

/// Returns the duration of a MAC frame of `bytes` at `rate_bps`.
pub fn frame(cell: &Cell, bytes: u32, rate_bps: u64) -> Span {
    let bits = u64::from(bytes) * 8;
    if matches!(cell.phy.kind, PhyKind::Dot11a | PhyKind::Dot11g) {
        // OFDM frame: 22 bits of SERVICE and tail, symbols of 4 us, and a signal extension of 6 us at 2.4 GHz.
        let symbols = (22 + bits).div_ceil(rate_bps * 4 / 1_000_000);
        let at_2_4_ghz = cell.phy.kind == PhyKind::Dot11g;
        let extension = if at_2_4_ghz { 6_000 } else { 0 };
        return cell.phy.preamble + Span(symbols * 4_000 + extension);
    }
    let nanoseconds = (u128::from(bits) * 2_000_000_000 / u128::from(rate_bps)).div_ceil(2);
    cell.phy.preamble + Span(nanoseconds as u64)
}

/// Returns the length of the MAC frame that carries an IP packet. [bytes]
pub fn data_bytes(cell: &Cell, ip_bytes: u32) -> u32 {
    ip_bytes + cell.mac_header_bytes + cell.llc_bytes
}

/// Returns the time that EIFS adds to AIFS: the duration of SIFS and a MAC ACK.
pub fn eifs_lead(cell: &Cell) -> Span {
    cell.phy.sifs + frame(cell, ACK_BYTES, cell.phy.eifs_rate_bps)
}

/// Returns the AIFS of an access category. [ns]
pub fn aifs(cell: &Cell, access: &Access) -> Span {
    cell.phy.sifs + cell.phy.slot * u64::from(access.aifsn)
}

/// Returns the rate of a control frame: at most `most_bps`, and not faster than data at `data_bps`.
pub fn control_rate(cell: &Cell, most_bps: u64, data_bps: u64) -> u64 {
    let rates_mbps: &[f64] = match cell.phy.kind {
        PhyKind::Dot11b => &[11.0, 5.5, 2.0, 1.0],
        PhyKind::Dot11gLong => &[24.0, 12.0, 11.0, 6.0, 5.5, 2.0, 1.0],
        _ => &[24.0, 12.0, 6.0],
    };
    let rates_bps = rates_mbps.iter().map(|mbps| (mbps * 1e6) as u64);
    let slowest = rates_bps.clone().min().unwrap_or(0);
    let mut fitting = rates_bps.filter(|&bps| bps <= most_bps && bps <= data_bps);
    fitting.next().unwrap_or(slowest)
}
