//! The checked scenario: every default filled in, every value in range.
//! Built only by [`super::parse`]; the rest of the engine trusts it.

use super::channel::{Channel, ChannelChange};
use super::csma::Csma;
use super::gateway::Gateway;
use super::queue::QueueSetting;
use super::vsb::VsbSettings;
use crate::kernel::time::Span;

/// A whole experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title shown in results.
    pub name: String,
    /// Simulated time of each replication, warm-up included.
    pub duration: Span,
    /// Time cut from the start of each replication before anything is measured.
    pub warmup: Span,
    /// Number of independent replications.
    pub replications: u32,
    /// Seed of all random streams.
    pub seed: u64,
    /// The WLAN cell; without stations it stands idle.
    pub cell: Cell,
    /// The wired link between the access point and the servers, each way.
    pub wire: Wire,
    /// The virtual shared bottleneck between wire and access point.
    pub vsb: Option<VsbSettings>,
    /// Stations in order of the file, groups expanded.
    pub stations: Vec<Station>,
    /// Each direction of each wired link of the network, the cell's wire not among them.
    pub links: Vec<LinkSettings>,
    /// Flows: those of the stations in station order, then those between wired nodes.
    pub flows: Vec<Flow>,
    /// Wireless links that hear only some of each other; nothing else is wireless then.
    pub csma: Option<Csma>,
    /// What to record beside the means.
    pub record: Record,
    /// How fairness is enforced on Linux; nothing here reads it.
    pub gateway: Option<Gateway>,
}

/// Physical layer of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhyKind {
    /// DSSS/HR-DSSS, long preamble.
    Dot11b,
    /// ERP-OFDM with 6 us signal extension, short slot.
    Dot11g,
    /// 802.11g rates behind a long DSSS preamble (paper 000, Table II).
    Dot11gLong,
}

/// Timing of the physical layer, from the preset unless overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    /// The preset this came from.
    pub kind: PhyKind,
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// Preamble and PLCP header in front of every frame.
    pub preamble: Span,
    /// Rate of the MAC ACK whose duration EIFS contains. [bit/s]
    pub eifs_rate_bps: u64,
}

/// One WLAN cell: a single contention domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Timing.
    pub phy: Phy,
    /// MAC header and FCS of a data frame. [bytes]
    pub mac_header_bytes: u32,
    /// LLC/SNAP header of a data frame. [bytes]
    pub llc_bytes: u32,
    /// Frames longer than this are preceded by RTS/CTS; `None`: never. [bytes of MAC frame]
    pub rts_threshold_bytes: Option<u32>,
    /// How long a transmitter waits after its frame for the MAC ACK or CTS before
    /// it counts the attempt as failed; `None`: until the others' EIFS leaves
    /// only AIFS, so that all nodes resume together.
    pub ack_timeout: Option<Span>,
    /// When backoff counters fall.
    pub countdown: CountdownRule,
    /// Transmission opportunities with a limit in time end with a CF-End frame if time is left.
    pub cf_end: bool,
    /// Access point.
    pub ap: Node,
    /// Order of service in the access point's queues.
    pub ap_queue_order: QueueOrder,
    /// Choice of the rate of data frames, at every node.
    pub rate_control: RateControl,
    /// Classes among which the access point's queue is shared, if its discipline shares it.
    pub vbs_classes: Vec<VbsClass>,
}

/// A class of flows with a share of the access point's queue.
#[derive(Clone, Debug, PartialEq)]
pub struct VbsClass {
    /// Unique name.
    pub name: String,
    /// Its part as the file says it; those of all classes sum to at most 1. [-]
    pub share: f64,
    /// Its part of what all classes together have, h*: `share` over the sum of all. [-]
    pub target: f64,
    /// Its flows, indices into [`Scenario::flows`]; at least one.
    pub flows: Vec<u32>,
}

/// When a backoff counter falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountdownRule {
    /// At the end of each idle slot.
    Dcf,
    /// At the beginning of each slot, also of one in which another node begins to send.
    Edca,
}

/// Medium access of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Highest rate of MAC ACK, RTS and CTS frames ([`Scenario::rates`]). [bit/s]
    pub control_rate_bps: u64,
    /// Access parameters of the category that traffic uses unless it says otherwise (DCF).
    pub best_effort: Access,
    /// Access parameters of category background.
    pub background: Access,
    /// Access parameters of category video.
    pub video: Access,
    /// Access parameters of category voice.
    pub voice: Access,
    /// Attempts (first one included) for RTS and for frames up to the RTS threshold.
    pub attempts_short: u32,
    /// Attempts (first one included) for frames longer than the RTS threshold.
    pub attempts_long: u32,
    /// Each category's queue.
    pub queue: QueueSetting,
}

impl Node {
    /// Access parameters of `category`.
    pub fn access(&self, category: Category) -> &Access {
        match category {
            Category::Background => &self.background,
            Category::BestEffort => &self.best_effort,
            Category::Video => &self.video,
            Category::Voice => &self.voice,
        }
    }
}

/// Access category (802.11 EDCA), in order of priority: the later wins internal collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE, and DCF.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl Category {
    /// All, lowest priority first.
    pub const ALL: [Category; 4] = [
        Category::Background,
        Category::BestEffort,
        Category::Video,
        Category::Voice,
    ];

    /// Its name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            Category::Background => "background",
            Category::BestEffort => "best-effort",
            Category::Video => "video",
            Category::Voice => "voice",
        }
    }
}

/// Access parameters of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Arbitration interframe space number; 2 is DIFS, 1 is PIFS.
    pub aifsn: u32,
    /// Smallest contention window; backoff is uniform on [0, CW].
    pub cwmin: u32,
    /// Largest contention window.
    pub cwmax: u32,
    /// Most frames in one transmission opportunity, at least 1; `None`: no limit in frames.
    pub txop_packets: Option<u32>,
    /// Longest transmission opportunity, from the start of its first frame to the end of its last
    /// MAC ACK; the first frame is always allowed. `None`: no limit in time.
    pub txop_limit: Option<Span>,
}

impl Access {
    /// Contention parameters alone, one frame a transmission opportunity.
    pub const fn contention(aifsn: u32, cwmin: u32, cwmax: u32) -> Access {
        Access {
            aifsn,
            cwmin,
            cwmax,
            txop_packets: Some(1),
            txop_limit: None,
        }
    }
}

/// In which order the access point serves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// First in, first out.
    Fifo,
    /// The first packet of the flow of a packet drawn at random, as models with a randomly mixed
    /// queue assume; packets of a flow stay in order.
    Mixed,
}

/// One station.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Unique name.
    pub name: String,
    /// Name of the table in the file it came from (equals `name` without `count`).
    pub group: String,
    /// Rate of data frames from the station. [bit/s]
    pub rate_bps: u64,
    /// Rate of data frames to the station. [bit/s]
    pub downlink_rate_bps: u64,
    /// Medium access.
    pub node: Node,
    /// What channel errors do to its frames from the start of the run on.
    pub channel: Channel,
    /// What they do later, in order of time.
    pub channel_changes: Vec<ChannelChange>,
}

/// How a sender chooses the rate of its data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// Always the nominal rate.
    Fixed,
    /// Automatic rate fallback among the rates up to the nominal one.
    Arf,
}

/// The wired link; same both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Rate; `None`: no serialisation time. [bit/s]
    pub rate_bps: Option<u64>,
    /// Propagation time, one way.
    pub delay: Span,
    /// The queue at each end (only with a rate).
    pub queue: QueueSetting,
    /// Probability that a TCP segment or datagram is lost on the wire (Bernoulli); ACKs are spared.
    pub loss: f64,
}

/// One direction of a wired link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSettings {
    /// Unique name.
    pub name: String,
    /// Node at its near end.
    pub from: String,
    /// Node at its far end.
    pub to: String,
    /// Rate; `None`: no serialisation time. [bit/s]
    pub rate_bps: Option<u64>,
    /// Propagation time.
    pub delay: Span,
    /// Of the two random times by which packets are late, in their order, the longest; only of hosts' links.
    pub jitter: Span,
    /// The queue in front of it (only with a rate).
    pub queue: QueueSetting,
    /// Probability that a TCP segment or datagram is lost on the way (Bernoulli); ACKs are spared.
    pub loss: f64,
    /// It belongs to the host of one flow; results leave it out.
    pub of_host: bool,
}

/// Direction of a flow's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Station to server.
    Up,
    /// Server to station.
    Down,
}

/// What a flow runs between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A station and a wired node.
    Station {
        /// Index into [`Scenario::stations`].
        station: usize,
        /// Where the data goes.
        direction: Direction,
    },
    /// Two wired nodes.
    Wired,
}

/// One transport flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique name: `STATION/up/K`, `STATION/down/K`, `STATION/udp-up/K` or `STATION/udp-down/K`;
    /// between wired nodes that of its table, with its number if the table makes several.
    pub name: String,
    /// The table it comes from, for statistics by class.
    pub class: String,
    /// What it runs between.
    pub ends: Ends,
    /// The links that its data takes, indices into [`Scenario::links`]; for a station's flow those
    /// beyond the cell's wire.
    pub forward: Vec<u32>,
    /// The links that its ACKs take.
    pub back: Vec<u32>,
    /// Access category of its packets, both ways.
    pub category: Category,
    /// First packet, at the earliest.
    pub start: Span,
    /// The first packet is this much later at most, uniformly at random in each replication.
    pub start_spread: Span,
    /// No new data from then on; `None`: runs to the end.
    pub stop: Option<Span>,
    /// What sends.
    pub transport: Transport,
    /// The transport carries a sensor's reports, each one segment or datagram, and nothing else.
    pub reports: Option<ReportSettings>,
}

impl Flow {
    /// A station's flow in category best effort, from the start of the run to its end.
    pub fn of_station(
        name: String,
        station: usize,
        direction: Direction,
        transport: Transport,
    ) -> Flow {
        Flow {
            class: String::new(),
            ends: Ends::Station { station, direction },
            forward: Vec::new(),
            back: Vec::new(),
            category: Category::BestEffort,
            start: Span::ZERO,
            start_spread: Span::ZERO,
            stop: None,
            transport,
            reports: None,
            name,
        }
    }

    /// The flow's station, if it has one.
    pub fn station(&self) -> Option<usize> {
        match self.ends {
            Ends::Station { station, .. } => Some(station),
            Ends::Wired => None,
        }
    }

    /// Direction of a station's flow.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
}

/// Transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {
    /// A bulk TCP connection.
    Tcp(TcpSettings),
    /// A datagram source.
    Udp(UdpSettings),
    /// TCP connections that come and go, each with a request and a response.
    Web(WebSettings),
}

/// Congestion control of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// Slow start after every loss.
    Tahoe,
    /// Fast recovery, left on the first new ACK (RFC 2581).
    Reno,
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Reno's window plus one that follows the queueing delay (Tan et al. 2006).
    Compound,
    /// The window as a cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// Reno with an increase and a decrease that depend on the queueing delay (Liu et al. 2008).
    Illinois,
    /// HighSpeed TCP while the queue is short, Reno otherwise (King et al. 2005).
    Africa,
}

impl CongestionControl {
    /// All of them.
    pub const ALL: [CongestionControl; 7] = [
        CongestionControl::Tahoe,
        CongestionControl::Reno,
        CongestionControl::NewReno,
        CongestionControl::Compound,
        CongestionControl::Cubic,
        CongestionControl::Illinois,
        CongestionControl::Africa,
    ];

    /// Its name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            CongestionControl::Tahoe => "tahoe",
            CongestionControl::Reno => "reno",
            CongestionControl::NewReno => "newreno",
            CongestionControl::Compound => "compound",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Illinois => "illinois",
            CongestionControl::Africa => "africa",
        }
    }
}

/// Parameters of Compound TCP (Tan et al. 2006; Manjunath & Raina, section II).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompoundSettings {
    /// Scale of the growth in a round trip without queue, alpha win^k. [-]
    pub alpha: f64,
    /// Part of the window that a loss takes. [-]
    pub beta: f64,
    /// Exponent of that growth. [-]
    pub k: f64,
    /// Packets of the flow in the queue from which the delay window shrinks. [packets]
    pub gamma: f64,
    /// What the delay window gives up in a round trip per packet in the queue. [-]
    pub zeta: f64,
}

impl CompoundSettings {
    /// The published values.
    pub const PUBLISHED: CompoundSettings = CompoundSettings {
        alpha: 0.125,
        beta: 0.5,
        k: 0.75,
        gamma: 30.0,
        zeta: 0.5,
    };
}

/// Settings of one TCP connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpSettings {
    /// Congestion control.
    pub congestion: CongestionControl,
    /// Parameters of Compound TCP, which nothing else reads.
    pub compound: CompoundSettings,
    /// The first slow start ends when the round-trip time rises (HyStart++, RFC 9406).
    pub hystart: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Selective acknowledgements, and recovery by them (RFC 2018, RFC 6675); not for Tahoe.
    pub sack: bool,
    /// Proportional rate reduction in recovery (RFC 9937); only with `sack`.
    pub prr: bool,
    /// Receive window, at least 1. [packets]
    pub window_packets: u32,
    /// Initial congestion window. [packets]
    pub initial_cwnd_packets: u32,
    /// ACK every second segment or after `ack_delay`; otherwise every segment.
    pub delayed_ack: bool,
    /// Delayed-ACK timer.
    pub ack_delay: Span,
    /// Time the receiver takes to make an ACK of a segment (paper 003, section 6.5).
    pub ack_processing: Span,
    /// Payload of a full segment. [bytes]
    pub mss_bytes: u32,
    /// TCP/IP header of a segment and size of an ACK. [bytes]
    pub header_bytes: u32,
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample (RFC 6298: 1 s).
    pub initial_rto: Span,
    /// Segments to send; `None`: without end.
    pub segments: Option<u64>,
}

/// When datagrams leave a UDP source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Whenever the first queue has room: never idle.
    Greedy,
}

/// Settings of one UDP source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UdpSettings {
    /// Gaps between datagrams.
    pub arrivals: Arrivals,
    /// Mean rate of payload; unused (0) for greedy sources. [bit/s]
    pub rate_bps: u64,
    /// Payload of a datagram. [bytes]
    pub payload_bytes: u32,
    /// UDP/IP header. [bytes]
    pub header_bytes: u32,
}

/// When a sensor reports, and until when a report is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// Equal or exponential gaps.
    pub arrivals: Arrivals,
    /// Mean gap between reports, above zero.
    pub every: Span,
    /// A report that takes longer counts as lost.
    pub deadline: Span,
}

/// When the connections of a web source begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebArrivals {
    /// As PackMime has them: Weibull gaps with long memory.
    Packmime,
    /// Exponential gaps.
    Poisson,
    /// Equal gaps.
    Constant,
}

/// Settings of one source of web traffic: the server is where the flow begins, the client where it
/// ends, so that responses are the flow's data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebSettings {
    /// Every connection's TCP, both ways; its `segments` are none.
    pub tcp: TcpSettings,
    /// Mean rate of new connections. [1/s]
    pub connections_per_s: f64,
    /// Gaps between them.
    pub arrivals: WebArrivals,
    /// Length of every request; `None`: as PackMime has them. [bytes]
    pub request_bytes: Option<u32>,
    /// Length of every response; `None`: as PackMime has them. [bytes]
    pub response_bytes: Option<u32>,
    /// Time between request and response; `None`: as PackMime has it.
    pub server_delay: Option<Span>,
}

/// What to record beside the means.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Record {
    /// Sampling interval of the time series; `None`: no series.
    pub series_interval: Option<Span>,
    /// Width of the bins over which the least utilisation of a link is taken; `None`: 100 ms.
    pub utilisation_bin: Option<Span>,
    /// Keep a log of every frame on the air of replication 0 (for pcapng), at most this many.
    pub frames: Option<u64>,
}
