//! Tables of the wired network: flows between wired nodes, and topologies of several links.

use crate::app::call::CallKeys;
use crate::app::ping::PingKeys;
use crate::app::{FlowHosts, UdpSettings, WebSettings, WiredDatagrams, WriteKeys};
use crate::conflict::MARGINAL_UTILITY;
use crate::kernel::time::Span;
use crate::link::{BottleneckRate, LinkRate};
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{
    S, Spec, count, duration, name, names, number, points, probability, rate, shorthand,
    shorthand_as,
};
use crate::table;
use crate::tcp::TcpSettings;

/// Default of the largest random delay of a flow's start. Starts are random, so that replications
/// differ.
pub(super) const START_SPREAD: Span = Span(S);

table! {
    /// Attachment of a flow's hosts to the network.
    pub struct Hosts in "hosts" {
        /// Rate of the link between a source's host and its node. The queue of this link is never full.
        access: Option<u64> = rate().or("unlimited").default("unlimited");
        /// Spread of the rates of a class's access links, as a fraction of access. The rates are spaced evenly around access.
        access_spread: f64 = probability().default(0.0) => 0.0;
        /// Upper limit of each of two random delays of every packet that a source sends. One delay is drawn per packet and one per second; packets keep their order. "packet" is the time of a full TCP segment on the slowest link of the route.
        jitter: Option<Span> = duration(0..=S).or("packet").default("0 ms");
        /// Round-trip propagation time of a flow. If the links of the route add up to less, the difference is split equally over the four host links.
        rtt: Option<Span> = duration(0..=100 * S).depends("the round-trip propagation time of the links of the route");
        /// Spread of the round-trip propagation times of a class's flows. The times are spaced evenly from rtt to rtt plus this value.
        rtt_spread: Span = duration(0..=100 * S).default("0 ms") => Span::ZERO;
        /// Largest random delay of the start of each flow, drawn in each replication. Without a dumbbell or parking_lot the default is also 1 s. A flow that would start after its stop never starts.
        start_spread: Span = duration(0..=1_000_000 * S).default("1 s") => START_SPREAD;
    }
}

table! {
    /// A UDP source. A bare value is its rate.
    pub struct SourceTable in "source" {
        all_of WiredDatagrams;
        all_of UdpSettings, inherits "[udp]";
    }
}

table! {
    /// Calls between two hosts. A bare number is the number of calls, and the word "audio" is one call without video. The packets of a call are those of a station's call, also with control = "gcc".
    pub struct WiredCall in "wired_call" {
        all_of CallKeys;
    }
}

table! {
    /// Pings between two hosts. A bare time is the time between two requests. The host at `from` sends the requests, and the host at `to` replies immediately.
    pub struct WiredPing in "wired_ping" {
        all_of PingKeys;
    }
}

table! {
    /// A class of equal flows between two wired nodes, each with a host of its own at both ends. The flows are TCP connections, UDP sources if udp is set, web traffic if web is set, calls if call is set, or pings if ping is set.
    pub struct FlowTable in "flow" {
        /// Node to which the sources are attached.
        from: Option<String> = name().depends("the left or first node of a dumbbell or parking_lot");
        /// Node to which the sinks are attached.
        to: Option<String> = name().depends("the right or last node of a dumbbell or parking_lot");
        /// Number of equal flows, which are called NAME-1 to NAME-count.
        count: Option<u64> = count(1..=100_000).depends("one flow with the table's own name");
        /// Wireless links of csma and wired links that the flow passes, in this order. A route replaces the keys from and to. Each link leads from its `from` to its `to`, where the next link begins.
        route: Option<Vec<String>> = names().absent("no route; a route is required with csma");
        /// Weight of the flow's utility. It is accepted only with a route and csma.connections = "utility".
        weight: f64 = number(1e-6..=1e6), fallback 1.0;
        /// Derivative of any concave utility, as points [rate in packets/s, marginal utility]. The points replace csma.fairness, and are accepted only with csma.connections = "utility". Between two points, and beyond the first and last point, the marginal utility is a power of the rate.
        key marginal_utility: Vec<(f64, f64)> = points(&MARGINAL_UTILITY).absent("the value of csma.marginal_utility");
        all_of Hosts, inherits "[dumbbell] or [parking_lot]";
        all_of FlowHosts;
        /// UDP sources in place of TCP connections. A bare value is the rate of each source.
        key udp: SourceTable = shorthand(WiredDatagrams::rate).depends("TCP");
        /// Web traffic in place of bulk TCP: TCP connections that start and end during the run. A bare number is the number of new connections per second.
        key web: WebSettings = shorthand(WebSettings::connections_per_s).depends("bulk TCP");
        /// Calls in place of TCP connections. A call has audio and video in both directions. Direction up is from `from` to `to`. A bare number is the number of calls of each pair of hosts, and the word "audio" is one call without video.
        key call: WiredCall = shorthand(CallKeys::calls).depends("no calls");
        /// Pings in place of TCP connections, from `from` to `to` and back. A bare time is the time between two requests. They measure the round-trip time. The pings of a virtual shared bottleneck (vsb) are separate.
        key ping: WiredPing = shorthand(PingKeys::every).depends("no pings");
        /// Earliest time of the first packet, to which the random delay of start_spread is added.
        start: Span = duration(0..=1_000_000 * S).default("0 s");
        /// Time after which no new data is sent.
        stop: Option<Span> = duration(0..=1_000_000 * S).depends("the end of the run");
        /// Number of segments that each TCP connection sends.
        segments: Option<u64> = count(1..=4_000_000_000).depends("no limit");
        all_of WriteKeys;
        all_of TcpSettings, inherits "[tcp]";
    }
}

table! {
    /// A bottleneck of a dumbbell or parking_lot.
    pub struct ShapeLink in "bottleneck" {
        /// Rate of a bottleneck, in both directions. A table can set a trace of opportunities to send.
        bottleneck: LinkRate = bottleneck_rate().required(), by rate_of;
        /// One-way propagation time of a bottleneck.
        delay: Span = duration(0..=100 * S).default("0 ms");
    }
}

fn bottleneck_rate() -> Spec<LinkRate> {
    shorthand_as::<LinkRate, BottleneckRate, _>(BottleneckRate::constant)
}

fn rate_of(layers: &Layers) -> Result<LinkRate, Refused> {
    let rate = LinkRate::nearest(layers, ShapeLink::bottleneck)?;
    rate.ok_or_else(|| layers.lack(ShapeLink::bottleneck))
}

table! {
    /// Nodes `left` and `right`, a link `bottleneck` between them, and flows across this link.
    pub struct Dumbbell in "dumbbell" {
        all_of ShapeLink;
        /// Number of TCP flows from left to right. The flows form a class called `flow`.
        flows: u64 = count(0..=100_000).default(0);
        all_of Hosts;
    }
}

table! {
    /// Nodes `r0`, `r1` and so on in a row, with links `bottleneck-1` and so on between neighbours. Flows cross all links, or one link each.
    pub struct ParkingLot in "parking_lot" {
        /// Number of bottlenecks.
        hops: u64 = count(1..=64).default(2);
        all_of ShapeLink;
        /// Spread of the rates of the bottlenecks, as a fraction of the rate. The rates are spaced evenly around the value of bottleneck, and the first bottleneck is the slowest. With exactly equal rates, a drop-tail or threshold queue favours packets that come from the previous bottleneck.
        rate_spread: f64 = probability().default(0.0) => 0.0;
        /// Number of TCP flows through all bottlenecks. The flows form a class called `through`.
        flows: u64 = count(0..=100_000).default(0);
        /// Number of TCP flows that cross only one bottleneck, for each bottleneck. The flows form classes called `cross-1` and so on.
        cross: u64 = count(0..=100_000).default(0);
        all_of Hosts;
    }
}
