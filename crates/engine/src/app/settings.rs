//! Settings of traffic sources.

use super::gcc::RateBounds;
use super::ping::PingSettings;
use crate::kernel::time::Span;
use crate::notation::setting::{
    Json, S, Setting, US, count, duration, number, rate, size, word, word_or_none,
};
use crate::notation::value::Value;
use crate::tcp::TcpSettings;
use crate::{table, words};

words! {
    /// Gaps between the datagrams of a UDP source.
    pub enum Arrivals {
        /// Equal gaps.
        Constant = "constant",
        /// Exponential gaps.
        Poisson = "poisson",
        /// No gaps: the source sends a datagram whenever the first queue with a rate on its path has room.
        Greedy = "greedy",
    }
}

words! {
    /// Gaps between the packets of a source that is not greedy.
    pub enum Gaps {
        /// Equal gaps.
        Constant = "constant",
        /// Exponential gaps.
        Poisson = "poisson",
    }
}

impl From<Gaps> for Arrivals {
    fn from(gaps: Gaps) -> Arrivals {
        match gaps {
            Gaps::Constant => Arrivals::Constant,
            Gaps::Poisson => Arrivals::Poisson,
        }
    }
}

words! {
    /// Transport of the reports of a sensor.
    pub enum Carrier {
        /// One datagram per report.
        Udp = "udp",
        /// One segment per report.
        Tcp = "tcp",
    }
}

words! {
    /// Gaps between the starts of a web source's connections.
    pub enum WebArrivals {
        /// Weibull gaps with long memory, as in PackMime.
        Packmime = "packmime",
        /// Exponential gaps.
        Poisson = "poisson",
        /// Equal gaps.
        Constant = "constant",
    }
}

/// Value of the key `rate`: the rate of a UDP source in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRate {
    /// The word "greedy": the source keeps a queue full, namely the first queue on its path whose
    /// link has a rate.
    Greedy,
    /// Mean rate of payload. [bit/s]
    Bps(u64),
}

impl Setting for SourceRate {
    fn of(value: &Value) -> Option<SourceRate> {
        match value {
            Value::Word("greedy") => Some(SourceRate::Greedy),
            other => u64::of(other).map(SourceRate::Bps),
        }
    }

    fn json(&self) -> Json {
        match self {
            SourceRate::Greedy => Json::from("greedy"),
            SourceRate::Bps(bps) => Json::from(*bps),
        }
    }
}

table! {
    /// Settings of UDP sources.
    pub struct UdpSettings: Copy in "udp" {
        /// Gaps between datagrams.
        keyless arrivals: Arrivals = Arrivals::Constant;
        /// Mean rate of payload; unused (0) for greedy sources.
        keyless rate_bps: u64 = 0;
        /// Payload of a datagram.
        payload_bytes as "packet": u32 = size(1..=2_304).default("1472 B");
        /// UDP/IP header of a datagram.
        header_bytes as "header": u32 = size(0..=256).default("28 B");
        /// Datagrams that leave back to back. The gaps are between bursts, and longer by this factor. [packets]
        hidden burst: u32 = 1;
        /// Bounds of the rate of a video that adapts to the network; `None` if the rate is constant.
        hidden control: Option<RateBounds> = None;
    }
}

table! {
    /// Rate and gaps of the datagrams of a station's source.
    pub struct Datagrams: Copy in "datagrams" {
        /// Mean rate of payload. The word "greedy" means arrivals = "greedy".
        rate: Option<SourceRate> = rate().or("greedy").depends("none; required unless arrivals is \"greedy\"");
        /// Gaps between datagrams: equal ("constant") or exponential ("poisson"). With "greedy" the source sends a datagram whenever the first queue with a rate on the path has space.
        arrivals: Option<Arrivals> =
            word_or_none().depends("\"constant\"; \"greedy\" with rate = \"greedy\"");
        /// Number of datagrams that the source sends back to back, such as those of a video frame. The gaps are between bursts, and are longer by this factor.
        burst: u32 = count(1..=1_000).default(1);
    }
}

table! {
    /// Rate and gaps of the datagrams of a source between wired nodes.
    pub struct WiredDatagrams: Copy in "source" {
        /// Mean rate of payload. The word "greedy" keeps the first queue full. It is accepted on a route that begins with a wireless link, with csma.aqm = false.
        rate: Option<SourceRate> = rate().or("greedy").checked();
        /// Gaps between datagrams: equal ("constant") or exponential ("poisson").
        arrivals: Gaps = word().default(Gaps::Constant);
        /// Number of datagrams that the source sends back to back, such as those of a video frame. The gaps are between bursts, and are longer by this factor.
        burst: u32 = count(1..=1_000).default(1);
    }
}

impl UdpSettings {
    /// Returns these settings with datagrams sent at `rate` in bursts of `burst` datagrams.
    /// `arrivals` sets the gaps between bursts, unless the source is greedy.
    pub fn leaving(
        self,
        rate: Option<SourceRate>,
        arrivals: Option<Arrivals>,
        burst: u32,
    ) -> UdpSettings {
        let (arrivals, rate_bps) = match rate {
            Some(SourceRate::Greedy) => (Arrivals::Greedy, 0),
            Some(SourceRate::Bps(bps)) => (arrivals.unwrap_or(Arrivals::Constant), bps),
            None => (arrivals.unwrap_or(Arrivals::Constant), 0),
        };
        UdpSettings {
            arrivals,
            rate_bps,
            burst,
            ..self
        }
    }
}

table! {
    /// Reports of a sensor.
    pub struct SensorSettings: Copy in "reports" {
        /// Mean time between reports.
        every: Option<Span> = duration(100 * US..=1_000_000 * S).checked();
        /// Transport of the reports: one datagram per report ("udp"), or one segment per report on a TCP connection that is opened at the start ("tcp").
        transport: Carrier = word().default(Carrier::Udp);
        /// Payload of a report.
        payload_bytes as "size": u32 = size(1..=2_304).default("100 B");
        /// Gaps between reports: exponential ("poisson") or equal ("constant").
        arrivals: Gaps = word().default(Gaps::Poisson);
        /// Delay above which a report counts as lost.
        deadline: Option<Span> =
            duration(100 * US..=1_000_000 * S).depends("a tenth of the duration, at most 10 s");
    }
}

/// The times at which a sensor creates reports, and their deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// Gaps between reports: equal ("constant") or exponential ("poisson").
    pub arrivals: Gaps,
    /// Mean gap between two reports, above zero.
    pub every: Span,
    /// Delay above which a report is considered lost.
    pub deadline: Span,
}

table! {
    /// Web traffic. On each connection, a client at `to` sends a request and a server at `from` sends a response. The defaults follow PackMime-HTTP. A bare number is the rate of connections.
    pub struct WebSettings in "web" {
        /// TCP settings of every connection, in both directions; `segments` is `None`.
        hidden tcp: TcpSettings = TcpSettings::usual()?;
        /// Mean number of new connections per second. At less than about 5 per second, the gaps of arrivals = "packmime" are so uneven that a run has more connections than this mean, and runs differ much. Set arrivals = "poisson" for the pages of one device. At most 10000 connections are open simultaneously.
        connections_per_s as "connections": f64 = number(0.1..=10_000.0).checked();
        /// Gaps between the starts of connections: Weibull with long memory ("packmime"), exponential ("poisson") or equal ("constant").
        arrivals: WebArrivals = word().default(WebArrivals::Packmime);
        /// Length of requests. The word "packmime" means the distribution of PackMime-HTTP.
        request_bytes as "request": Option<u32> =
            size(1..=1_000_000_000).or("packmime").default("packmime");
        /// Length of responses. The word "packmime" means the distribution of PackMime-HTTP.
        response_bytes as "response": Option<u32> =
            size(1..=1_000_000_000).or("packmime").default("packmime");
        /// Time from the arrival of a request to its response. The word "packmime" means the distribution of PackMime-HTTP.
        server_delay: Option<Span> = duration(0..=1_000 * S).or("packmime").default("packmime");
    }
}

/// Transport of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// A bulk TCP connection.
    Tcp(TcpSettings),
    /// A datagram source.
    Udp(UdpSettings),
    /// TCP connections that open and close, each with one request and one response.
    Web(WebSettings),
    /// Echo requests and their replies.
    Ping(PingSettings),
}
