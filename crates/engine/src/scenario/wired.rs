//! Tables of the wired network: flows between wired nodes, and shapes that stand for several links.

use crate::app::{UdpSettings, WebSettings, WiredDatagrams};
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

/// Start of a flow at most this late, unless the file says otherwise: replications differ.
pub(super) const START_SPREAD: Span = Span(S);

table! {
    /// How the hosts of a flow are attached.
    pub struct Hosts in "hosts" {
        /// Rate of the link between a source's host and its node; its queue is never full.
        access: Option<u64> = rate().or("unlimited").default("unlimited");
        /// The rates of a class's access links lie evenly over this part of the rate, around it.
        access_spread: f64 = probability().default(0.0) => 0.0;
        /// Each source takes two random times up to this over each packet it sends, one drawn for the packet and one for a second; packets keep their order. "packet": the time of a full TCP segment on the slowest link of the route.
        jitter: Option<Span> = duration(0..=S).or("packet").default("0 ms");
        /// Round-trip propagation time of a flow: what the links lack is in its hosts' own links, a quarter each.
        rtt: Option<Span> = duration(0..=100 * S).depends("what the links of the route have");
        /// The round-trip propagation times of a class's flows lie evenly from its rtt to this much more.
        rtt_spread: Span = duration(0..=100 * S).default("0 ms") => Span::ZERO;
        /// Each flow starts this much later at most, at random in each replication; 1 s without a dumbbell or parking_lot too. One that would start after its stop never does.
        start_spread: Span = duration(0..=1_000_000 * S).default("1 s") => START_SPREAD;
    }
}

table! {
    /// A UDP source. A bare value is its rate.
    pub struct SourceTable in "source" {
        all_of WiredDatagrams;
        all_of UdpSettings, inherits "udp";
    }
}

table! {
    /// A class of equal flows between two wired nodes, each with a host of its own at both ends: TCP connections, with udp datagram sources, with web connections that come and go.
    pub struct FlowTable in "flow" {
        /// Node that the sources are attached to.
        from: Option<String> = name().depends("the left or first node of a dumbbell or parking_lot");
        /// Node that the sinks are attached to.
        to: Option<String> = name().depends("the right or last node of a dumbbell or parking_lot");
        /// Makes flows NAME-1 to NAME-count.
        count: Option<u64> = count(1..=100_000).depends("one flow with the table's own name");
        /// Links of csma, and wired links, that the flow passes in this order, each from its `from` to its `to`, where the next begins; in the place of from and to.
        route: Option<Vec<String>> = names().absent("no such route; needed beside csma");
        /// Weight of the flow's utility; only with a route and csma.connections = "utility".
        weight: f64 = number(1e-6..=1e6).fallback(1.0);
        /// Any concave utility, in the place of fairness and only with connections = "utility", by its derivative: points [rate in packets/s, marginal utility]. Between two points, and beyond the first and the last, it is a power of the rate.
        key marginal_utility: Vec<(f64, f64)> = points(&MARGINAL_UTILITY).absent("that of csma");
        all_of Hosts, inherits "the dumbbell or parking_lot";
        /// The flows are datagram sources of this rate each.
        key udp: SourceTable = shorthand(WiredDatagrams::rate).depends("TCP");
        /// The flow is web traffic: TCP connections that come and go, this many a second.
        key web: WebSettings = shorthand(WebSettings::connections_per_s).depends("bulk TCP");
        /// Earliest time of the first packet; start_spread comes on top.
        start: Span = duration(0..=1_000_000 * S).default("0 s");
        /// No new data from then on.
        stop: Option<Span> = duration(0..=1_000_000 * S).depends("the end of the run");
        /// Segments each TCP connection sends.
        segments: Option<u64> = count(1..=4_000_000_000).depends("without end");
        all_of TcpSettings, inherits "tcp";
    }
}

table! {
    /// A bottleneck of a shape.
    pub struct ShapeLink in "bottleneck" {
        /// Rate of a bottleneck, both ways. A table: opportunities that follow a trace.
        bottleneck: LinkRate = bottleneck_rate().required(), by rate_of;
        /// Propagation time of a bottleneck, one way.
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
    /// Nodes `left` and `right` with a link `bottleneck` from one to the other, and flows across it.
    pub struct Dumbbell in "dumbbell" {
        all_of ShapeLink;
        /// TCP flows from left to right, a class called `flow`.
        flows: u64 = count(0..=100_000).default(0);
        all_of Hosts;
    }
}

table! {
    /// Nodes `r0`, `r1`, ... in a row with links `bottleneck-1`, ... from each to the next, flows through all of them and flows across each.
    pub struct ParkingLot in "parking_lot" {
        /// Number of bottlenecks.
        hops: u64 = count(1..=64).default(2);
        all_of ShapeLink;
        /// The rates of the bottlenecks lie evenly over this part of the rate, around it, the slowest first. With exactly equal rates a drop-tail or threshold queue favours packets that come from the bottleneck before it.
        rate_spread: f64 = probability().default(0.0) => 0.0;
        /// TCP flows through all bottlenecks, a class called `through`.
        flows: u64 = count(0..=100_000).default(0);
        /// TCP flows across each bottleneck alone, classes called `cross-1`, ...
        cross: u64 = count(0..=100_000).default(0);
        all_of Hosts;
    }
}
