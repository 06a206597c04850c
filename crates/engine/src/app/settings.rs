//! What a file says of sources of traffic.

use crate::kernel::time::Span;
use crate::notation::setting::{
    Json, S, Setting, US, duration, number, rate, size, word, word_or_none,
};
use crate::notation::value::Value;
use crate::tcp::TcpSettings;
use crate::{table, words};

words! {
    /// When datagrams leave a UDP source.
    pub enum Arrivals {
        /// Equal gaps.
        Constant = "constant",
        /// Exponential gaps.
        Poisson = "poisson",
        /// Whenever the first queue on the path that has a rate has room.
        Greedy = "greedy",
    }
}

words! {
    /// Gaps between what a source that is not greedy sends.
    pub enum Gaps {
        /// Equal ones.
        Constant = "constant",
        /// Exponential ones.
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
    /// What carries the reports of a sensor.
    pub enum Carrier {
        /// A datagram each.
        Udp = "udp",
        /// A segment each.
        Tcp = "tcp",
    }
}

words! {
    /// When the connections of a web source begin.
    pub enum WebArrivals {
        /// As PackMime has them: Weibull gaps with long memory.
        Packmime = "packmime",
        /// Exponential gaps.
        Poisson = "poisson",
        /// Equal gaps.
        Constant = "constant",
    }
}

/// The rate of a datagram source, as a file says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRate {
    /// The rate that keeps the first queue on the path that has a rate full.
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
        beside arrivals: Arrivals = Arrivals::Constant;
        /// Mean rate of payload; unused (0) for greedy sources.
        beside rate_bps: u64 = 0;
        /// Payload of a datagram.
        payload_bytes as "packet": u32 = size(1..=2_304).default("1472 B");
        /// UDP/IP header of a datagram.
        header_bytes as "header": u32 = size(0..=256).default("28 B");
    }
}

table! {
    /// When the datagrams of a station's source leave.
    pub struct Datagrams: Copy in "datagrams" {
        /// Mean rate of payload; "greedy": the same as arrivals = "greedy".
        rate: Option<SourceRate> = rate().or("greedy").depends("needed unless arrivals is \"greedy\"");
        /// Equal gaps, exponential gaps, or a datagram whenever the first queue on the path that has a rate has room.
        arrivals: Option<Arrivals> =
            word_or_none().depends("\"constant\", with rate = \"greedy\" \"greedy\"");
    }
}

table! {
    /// When the datagrams of a source between wired nodes leave.
    pub struct WiredDatagrams: Copy in "source" {
        /// Mean rate of payload; "greedy", on a route that begins with a wireless link without aqm: as much as its queue takes.
        rate: Option<SourceRate> = rate().or("greedy").depends("needed");
        /// Equal or exponential gaps.
        arrivals: Gaps = word().default(Gaps::Constant);
    }
}

impl UdpSettings {
    /// The same settings with datagrams that leave at `rate`, with gaps by `arrivals` unless the source is
    /// greedy.
    pub fn leaving(self, rate: Option<SourceRate>, arrivals: Option<Arrivals>) -> UdpSettings {
        let (arrivals, rate_bps) = match rate {
            Some(SourceRate::Greedy) => (Arrivals::Greedy, 0),
            Some(SourceRate::Bps(bps)) => (arrivals.unwrap_or(Arrivals::Constant), bps),
            None => (arrivals.unwrap_or(Arrivals::Constant), 0),
        };
        UdpSettings {
            arrivals,
            rate_bps,
            ..self
        }
    }
}

table! {
    /// The reports of a sensor.
    pub struct SensorSettings: Copy in "reports" {
        /// Mean time between reports.
        every: Option<Span> = duration(100 * US..=1_000_000 * S).depends("none: it must be given");
        /// A datagram each, or a segment each on one TCP connection that is opened at the start.
        transport: Carrier = word().default(Carrier::Udp);
        /// Payload of a report.
        payload_bytes as "size": u32 = size(1..=2_304).default("100 B");
        /// Exponential or equal gaps.
        arrivals: Gaps = word().default(Gaps::Poisson);
        /// A report that takes longer counts as lost.
        deadline: Option<Span> =
            duration(100 * US..=1_000_000 * S).depends("a tenth of the duration, at most 10 s");
    }
}

/// When a sensor reports, and until when a report is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// Equal or exponential gaps.
    pub arrivals: Gaps,
    /// Mean gap between reports, above zero.
    pub every: Span,
    /// A report that takes longer counts as lost.
    pub deadline: Span,
}

table! {
    /// Web traffic: connections with a request from `to` (the clients) to `from` (the servers) and a response back, by default as PackMime-HTTP has them. A bare number is the rate of connections.
    pub struct WebSettings in "web" {
        /// TCP of every connection, both ways; its `segments` are none.
        apart tcp: TcpSettings = TcpSettings::usual()?;
        /// Mean number of new connections a second; at most 10000 are open at a time.
        connections_per_s as "connections": f64 = number(0.1..=10_000.0).depends("needed");
        /// Gaps between the starts of connections: Weibull with long memory, exponential, or equal.
        arrivals: WebArrivals = word().default(WebArrivals::Packmime);
        /// Length of requests.
        request_bytes as "request": Option<u32> =
            size(1..=1_000_000_000).or("packmime").default("packmime");
        /// Length of responses.
        response_bytes as "response": Option<u32> =
            size(1..=1_000_000_000).or("packmime").default("packmime");
        /// Time from the arrival of a request to its response.
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
    /// TCP connections that come and go, each with a request and a response.
    Web(WebSettings),
}
