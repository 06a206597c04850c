//! The settings of TCP connections.

use super::congestion::{
    Bbr3Settings, BbrSettings, CompoundSettings, ConfiguredControl, CongestionAlgorithm,
    CubicLinuxSettings, DctcpSettings, PragueSettings,
};
use super::{AfterIdle, Feedback};
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{KeyOf, S, US, count, duration, flag, inner, size, word};
use crate::packet::Ecn;
use crate::table;

/// Description of networks with modern endpoints, for the documentation of defaults.
const MODERN: &str = "in cells of 802.11n, ac and ax, and in networks of [link] that have no [cell], \
    [dumbbell], [parking_lot] or [csma]";

/// Receive window of modern endpoints. It does not limit a connection over a path of up to 1 Gb/s
/// and a round-trip time of up to 100 ms. On such a path up to 8,333 packets of 1,500 B are in
/// flight, and up to 1,000 in its queue. After a loss the receiver buffers the same number of
/// packets until the retransmission arrives. For this reason Linux also sets its receive window to
/// twice the congestion window. [packets]
const MODERN_WINDOW: i32 = 20_000;

table! {
    /// Settings of TCP connections.
    pub struct TcpSettings in "tcp" {
        /// Congestion control of the sender.
        congestion: CongestionAlgorithm = word().hinting(CongestionAlgorithm::meant)
            .default(CongestionAlgorithm::NewReno).modern(CongestionAlgorithm::Cubic, MODERN);
        /// Congestion control of another crate, with its settings.
        made external: Option<ConfiguredControl> = external;
        /// Parameters of Compound TCP.
        within compound: CompoundSettings = inner().depends("the published values");
        /// Parameters of Linux's CUBIC.
        within cubic_linux: CubicLinuxSettings = inner().depends("the values of Linux");
        /// Parameters of DCTCP.
        within dctcp: DctcpSettings = inner().depends("the values of Linux");
        /// Parameters of Prague.
        within prague: PragueSettings = inner().depends("the values of Linux");
        /// Parameters of BBR.
        within bbr: BbrSettings = inner().depends("the values of Linux");
        /// Parameters of BBR version 3.
        within bbr3: Bbr3Settings = inner().depends("the values of the Internet-Draft");
        /// If true, the first slow start ends when the round-trip time rises, before a loss occurs (HyStart++).
        hystart: bool = flag().default(false);
        /// If true, the window grows by the number of newly acknowledged segments, not by the number of ACKs. The rule is that of RFC 3465 without its limit, as in Linux. With `rack`, the ACK that ends fast recovery counts, too.
        byte_counting: bool = flag().default(false);
        /// If true, segments are spaced in time, as in Linux. They leave at twice the rate cwnd/SRTT while cwnd is below half of ssthresh, and at 1.2 times this rate otherwise. If false, segments leave as soon as the window permits. BBR always paces, at its own rate.
        pacing: bool = flag().depends("false; true with congestion \"bbr\" and \"bbr3\", which need pacing"), by pacing;
        /// If true, a paced sender sends in bursts, as Linux's TCP with segmentation offload does: about 1 ms of the pacing rate, at least two segments and at most 64 kB. If a burst leaves late, the next gap is shorter by up to a half. This requires pacing = true.
        tso: bool = flag().default(false);
        /// If true, connections use explicit congestion notification (RFC 3168). Queues that can mark packets then mark the packets of these connections in place of dropping them.
        ecn: bool = flag().depends("false; true with congestion \"dctcp\" and \"prague\", which need ECN"), by ecn;
        /// If true, an ECN mark multiplies the window by 0.8 with "reno" and "newreno", and by 0.85 with "cubic" and "cubic_linux", instead of the factor after a loss (ABE, RFC 8511). This requires ecn = true.
        abe: bool = flag().default(false);
        /// If true, connections use selective acknowledgements and recover with them (RFC 6675). SACK cannot be used with congestion = "tahoe", with which the default is false. BBR requires SACK, and with congestion = "bbr" and "bbr3" the default is true.
        sack: bool = flag().default(false).modern(true, MODERN), by sack;
        /// If true, losses are detected by time, and probes detect the loss of the last segments (RACK-TLP, RFC 8985). RACK-TLP requires sack = true. BBR requires RACK-TLP.
        rack: bool = flag().depends("false; true with congestion \"bbr\" and \"bbr3\", which need RACK-TLP"), by rack;
        /// If true, recovery uses proportional rate reduction (RFC 9937). This requires sack = true. It has no effect with congestion = "bbr" and "bbr3", which set their windows themselves.
        prr: bool = flag().default(false);
        /// If true, a recovery is undone if nothing was lost (RFC 3522, RFC 4015). This requires rack = true.
        undo: bool = flag().default(false);
        /// If true, connections are opened with SYN and SYN-ACK, which take a round trip and may be lost.
        handshake: bool = flag().default(true);
        /// Receive window in packets.
        window_packets as "window": u32 = count(1..=65_535).default(42)
            .modern(MODERN_WINDOW, MODERN);
        /// Initial congestion window in packets.
        initial_cwnd_packets as "initial_window": u32 = count(1..=65_535).default(2)
            .modern(10, MODERN);
        /// If true, receivers acknowledge every second segment, and a single segment after ack_delay. Otherwise they acknowledge every segment.
        delayed_ack: bool = flag().default(true);
        /// Delayed-ACK timer.
        ack_delay: Span = duration(0..=10 * S).default("100 ms");
        /// Time that the receiver needs to make an ACK.
        ack_processing: Span = duration(0..=10 * S).default("0 s");
        /// Payload of a full segment.
        mss_bytes as "mss": u32 = size(1..=2_304).default("1460 B");
        /// TCP/IP header of a segment, and size of an ACK.
        header_bytes as "header": u32 = size(1..=256).default("40 B");
        /// Smallest retransmission timeout.
        min_rto: Span = duration(US..=60 * S).default("200 ms");
        /// Retransmission timeout before the first round-trip sample.
        initial_rto: Span = duration(US..=60 * S).default("1 s");
        /// If true, a timeout in fast recovery halves ssthresh once more, as in ns-2. Otherwise one loss causes one decrease.
        rto_halves_again: bool = flag().default(false);
        /// Congestion window of a sender that was idle or does not use its window. With "keep", the window is kept, and grows with every ACK. With "rfc5681", a connection restarts with the initial window after idle time of more than an RTO (RFC 5681, section 4.1). With "rfc7661", a window that is not used does not grow, and is reduced after five minutes. With "linux", the window is halved once per RTO of idle time beyond the first, but not below the initial window, and does not grow unless it is used. The setting has no effect with congestion = "bbr" and "bbr3", which have their own rule.
        after_idle: AfterIdle = word().depends("\"rfc5681\" for connections with rate, every or on and for adaptive video (stream); \"keep\" for others"), by after_idle;
        /// Number of segments to send; `None` means no limit.
        keyless segments: Option<u64> = None;
    }
}

/// Returns the congestion control from another crate, with its settings; `None` if the connection
/// uses a congestion control of lasthop.
fn external(layers: &Layers) -> Result<Option<ConfiguredControl>, Refused> {
    match layers.need(TcpSettings::congestion)? {
        CongestionAlgorithm::External(control) => control.configured(layers).map(Some),
        _ => Ok(None),
    }
}

/// Returns whether connections use SACK: the value in the file, or the default. The default is
/// false if the congestion control cannot use SACK, and true if it requires SACK.
fn sack(layers: &Layers) -> Result<bool, Refused> {
    let value = layers.need(TcpSettings::sack)?;
    let is_default = layers
        .located(TcpSettings::sack)
        .is_some_and(|sack| !sack.given);
    let congestion = layers.need(TcpSettings::congestion)?;
    if is_default && congestion.sets_recovery_window() {
        return Ok(true);
    }
    Ok(value && (!is_default || can_sack(Some(congestion))))
}

/// Returns whether losses are detected by time: the value in the file, or by default whether the
/// congestion control requires it.
fn rack(layers: &Layers) -> Result<bool, Refused> {
    required(layers, TcpSettings::rack)
}

/// Returns whether segments are paced: the value in the file, or by default whether the congestion
/// control requires it.
fn pacing(layers: &Layers) -> Result<bool, Refused> {
    required(layers, TcpSettings::pacing)
}

/// Returns the value of a flag in the file, or by default whether the congestion control is BBR of any version.
fn required(layers: &Layers, key: KeyOf<bool>) -> Result<bool, Refused> {
    match layers.value(key)? {
        Some(value) => Ok(value),
        None => Ok(layers.need(TcpSettings::congestion)?.sets_recovery_window()),
    }
}

/// Returns whether this congestion control can use SACK.
pub(super) fn can_sack(congestion: Option<CongestionAlgorithm>) -> bool {
    congestion != Some(CongestionAlgorithm::Tahoe)
}

/// Returns whether segments may be marked: the value in the file, or by default whether the
/// congestion control requires ECN.
fn ecn(layers: &Layers) -> Result<bool, Refused> {
    match layers.value(TcpSettings::ecn)? {
        Some(ecn) => Ok(ecn),
        None => Ok(layers.need(TcpSettings::congestion)?.needs_ecn()),
    }
}

/// Returns the rule for the window after idle time: the value in the file, or "keep". A connection
/// whose application limits its data has another default, which the tables of the scenario set.
fn after_idle(layers: &Layers) -> Result<AfterIdle, Refused> {
    Ok(layers
        .value(TcpSettings::after_idle)?
        .unwrap_or(AfterIdle::Keep))
}

impl TcpSettings {
    /// Returns the way in which the receiver reports marks to the sender.
    pub(super) fn feedback(&self) -> Feedback {
        match self.ecn {
            true => self.congestion.feedback(),
            false => Feedback::None,
        }
    }

    /// Returns the ECN codepoint of new segments.
    pub(super) fn ect(&self) -> Ecn {
        match self.congestion {
            _ if !self.ecn => Ecn::NotCapable,
            CongestionAlgorithm::Prague => Ecn::Scalable,
            CongestionAlgorithm::Dctcp if self.dctcp.l4s => Ecn::Scalable,
            _ => Ecn::Capable,
        }
    }
}
