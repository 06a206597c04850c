//! The keys of CAKE. Their names and words are those of tc-cake(8), as far as a key of a file allows
//! this.

use super::ack_filter::AckFilter;
use super::dscp::Diffserv;
use super::isolation::Isolation;
use super::line::{Line, LinkLayer};
use crate::kernel::time::Span;
use crate::notation::decode::{Located, Section};
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, duration, flag, keys, rate, size, word};
use crate::queue::discipline::{OfDiscipline, moving, refuse_idle};
use crate::table;

/// Smallest default memory limit with a shaper. [bytes]
const MIN_MEMORY: u64 = 4 << 20;

/// Largest default memory limit: 10,240 Ethernet frames of 1514 bytes. Without a shaper, it is the
/// default. [bytes]
const MAX_MEMORY: u64 = 10_240 * 1514;

/// Hint for the splitting of large segments.
const SPLIT_GSO: &str = "leave it out: each packet is a single segment, which cannot be split";

/// Keys of tc that CAKE does not have here, each with a hint.
const NO_KEY: &[(&str, &str)] = &[
    ("target", "set `rtt`: the target is a twentieth of it"),
    ("interval", "set `rtt`, which is the interval"),
    ("ecn", "leave it out: CAKE always marks ECN-capable packets"),
    ("quantum", "set `bandwidth`, from which the quantum follows"),
    ("queues", "leave it out: CAKE has 1024 queues in each tin"),
    ("split_gso", SPLIT_GSO),
    ("split-gso", SPLIT_GSO),
    ("no-split-gso", SPLIT_GSO),
    (
        "wash",
        "leave it out: CAKE does not change DSCPs here, and later queues see them",
    ),
    (
        "fwmark",
        "set `dscp` of the flows: it determines their tins",
    ),
    ("memlimit", "set `memory_limit`"),
    ("nonat", "set `nat = false`"),
    ("besteffort", "set `diffserv = \"besteffort\"`"),
    ("autorate_ingress", "set `bandwidth`"),
    ("rate", "set `bandwidth`, which is the rate of the shaper"),
    ("atm", "set `link_layer = \"atm\"`"),
    ("ptm", "set `link_layer = \"ptm\"`"),
    ("flows", "set `isolation = \"flows\"`"),
];

table! {
    /// CAKE: a shaper, tins for classes of traffic, fair queueing among hosts and flows, and COBALT in each queue.
    pub struct CakeSetting: Copy in "cake" without NO_KEY {
        /// Rate of the shaper. It counts lengths on the line (overhead, mpu, link_layer). The key requires a link with a constant rate. With "unlimited", there is no shaper, and the link sets the rate.
        bandwidth_bps as "bandwidth": Option<u64> = rate().or("unlimited").default("unlimited");
        /// Round-trip time of the flows. It is the interval of CoDel. The target is a twentieth of it, but at least 1.5 times the sending time of a full frame at the threshold of the tin.
        rtt: Span = duration(20 * US..=100 * S).default("100 ms");
        /// Entities that share the rate equally: flows, hosts, or hosts and the flows within a host. The direction of a packet determines its source host and destination host.
        isolation: Isolation = word().default(Isolation::TripleIsolate);
        /// If true, the hosts of a router with NAT (from_nat, to_nat of a flow) are separate hosts. If false, they are one host with the address of the router.
        nat: bool = flag().default(false);
        /// Tins to which packets are assigned by their DSCP. With bandwidth, each tin has priority up to its threshold, which is a part of bandwidth. Without bandwidth, tins are served in turns, by weights.
        diffserv: Diffserv = word().default(Diffserv::Diffserv3);
        /// Whether a TCP ACK that arrives replaces earlier ACKs of its connection in the queue.
        ack_filter: AckFilter = word().default(AckFilter::Off);
        /// Number of bytes that the line adds to an IP packet. The default is the Ethernet header, which Linux counts without the option `overhead`.
        overhead_bytes as "overhead": u32 = size(0..=256).default("14 B");
        /// Smallest length of a packet on the line, including overhead.
        mpu_bytes as "mpu": u32 = size(0..=256).default("0 B");
        /// Encoding on the line: cells of ATM (48 of 53 bytes are data), or PTM (one byte more for each 64 bytes).
        link_layer: LinkLayer = word().default(LinkLayer::None);
        /// Largest memory of the waiting packets, as Linux counts it: 2304 bytes for a packet of 1500 bytes, and 896 bytes for an ACK. A packet that exceeds it causes drops from the longest queue.
        memory_limit_bytes as "memory_limit": Option<u32> = size(1..=4_000_000_000).depends("15503360 B; with bandwidth, four times bandwidth times rtt, if this is less, but at least 4194304 B");
        /// If true, the shaper also charges packets that are dropped. It is meant for a queue after the slowest link of the path.
        ingress: bool = flag().default(false);
    }
}

impl CakeSetting {
    /// Returns the rate of the shaper, or 0 without a shaper. [bytes/s]
    pub(super) fn rate(&self) -> u64 {
        self.bandwidth_bps.map_or(0, |bps| (bps / 8).max(1))
    }

    /// Returns the bytes that the line adds to packets.
    pub(super) fn line(&self) -> Line {
        Line {
            overhead: self.overhead_bytes,
            mpu: self.mpu_bytes,
            link_layer: self.link_layer,
        }
    }

    /// Returns the largest memory of the waiting packets. [bytes]
    pub(super) fn memory_limit(&self) -> u64 {
        match (self.memory_limit_bytes, self.rate()) {
            (Some(limit), _) => u64::from(limit),
            (None, 0) => MAX_MEMORY,
            (None, rate) => {
                let bytes = u128::from(rate) * u128::from(self.rtt.0) * 4 / 1_000_000_000;
                (bytes as u64).clamp(MIN_MEMORY, MAX_MEMORY)
            }
        }
    }
}

impl OfDiscipline for CakeSetting {
    /// Default limit of Linux. [packets]
    const LIMIT: u32 = 10_240;
    const ORDERS: bool = true;

    moving!(rtt);

    fn marks(&self) -> bool {
        true
    }

    fn check(_: &Section, own: &Section, problems: &mut Problems) {
        let bandwidth = own.located(Self::bandwidth_bps).and_then(Located::present);
        if bandwidth.is_none() && !own.lacks(Self::bandwidth_bps) {
            let keys = keys!(Self: overhead_bytes, mpu_bytes, link_layer, ingress);
            let expected = "\"18 Mbps\" or another rate";
            refuse_idle(own, &keys, Self::bandwidth_bps, expected, problems);
        }
        if own.value(Self::nat) == Some(true)
            && own
                .value(Self::isolation)
                .is_some_and(|kind| !kind.sees_hosts())
        {
            let expected = "\"triple-isolate\" or another isolation of hosts";
            refuse_idle(own, &keys!(Self: nat), Self::isolation, expected, problems);
        }
    }
}
