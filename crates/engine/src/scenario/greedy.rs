//! Checks of greedy datagram sources. The source sends until the first queue on its path with a
//! limited rate is full, so this queue must have a fixed limit.

use super::checks::MAX_DATAGRAMS;
use super::flow_tables::{DATAGRAMS, under};
use super::model::*;
use super::root::RootKeys;
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;

/// Maximum fraction of a greedy source's datagrams that may be lost on the links before the queue
/// that the source fills. [-]
const MAX_LOST: f64 = 0.99;

/// The queues that a greedy source of a station fills, and the fraction of datagrams that reach
/// these queues.
struct Path<'a> {
    /// Whether the source fills the transmission queue of the access point or station.
    on_air: bool,
    /// Link whose queue the source fills: name, rate [bit/s] and queue. The queue is `None` if the
    /// source fills a leaf of the virtual shared bottleneck.
    link: Option<(&'a str, Option<u64>, Option<&'a QueueSetting>)>,
    /// Fraction of the source's datagrams that arrive at the queue and are not lost on the link
    /// that the queue feeds. [-]
    rest: f64,
}

impl<'a> Path<'a> {
    fn new(scenario: &'a Scenario, flow: &Flow) -> Path<'a> {
        let mut path = Path {
            on_air: true,
            link: None,
            rest: 1.0,
        };
        if !flow.fills_downlink() {
            return path;
        }
        let wire = &scenario.wire;
        let beyond = flow.forward.iter().map(|&link| {
            let link = &scenario.links[link as usize];
            (link.name.as_str(), &link.rate, &link.queue, link.loss)
        });
        let own = ("wire", &wire.rate, &wire.queue, wire.loss);
        for (name, rate, queue, loss) in beyond.chain([own]) {
            path.rest *= 1.0 - loss.share();
            if *rate != LinkRate::Unlimited {
                path.on_air = false;
                path.link = Some((name, rate.bps(), Some(queue)));
                return path;
            }
        }
        if let Some(shared) = scenario
            .bottleneck
            .as_ref()
            .filter(|own| own.redirects(flow))
        {
            path.on_air = shared.start > Span::ZERO;
            path.link = Some(("vsb", shared.rate_bps, None));
        }
        path
    }
}

/// Reports a problem for each greedy source at a station, if the source cannot fill its queue.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    for flow in &scenario.flows {
        let (Transport::Udp(udp), Ends::Station { station, direction }) =
            (&flow.transport, flow.ends)
        else {
            continue;
        };
        if udp.arrivals != Arrivals::Greedy {
            continue;
        }
        let group = root.named(RootKeys::station, &scenario.stations[station].group);
        if let Some(source) = group.and_then(|group| under(group, DATAGRAMS, direction))
            && !problems.concern(&source.path)
            && let Some(message) = fault(scenario, flow, (udp, station, direction))
        {
            source.refuse(message, problems);
        }
    }
}

/// Returns the reason why a greedy source cannot fill its queue; `None` if it can.
fn fault(
    scenario: &Scenario,
    flow: &Flow,
    (udp, station, direction): (&UdpSettings, usize, Direction),
) -> Option<String> {
    let station = &scenario.stations[station];
    let path = Path::new(scenario, flow);
    let on_air = match direction {
        Direction::Up => &station.node.queue,
        Direction::Down => &scenario.only_bss().cell.ap.queue,
    };
    if path.on_air && !on_air.is_plain() {
        let message = "a greedy source fills its queue to the limit, which the queue's discipline \
                       does not allow: expected a source with a rate, or a queue with only a limit \
                       or a threshold";
        return Some(message.to_owned());
    }
    if path.on_air && station.power_save.is_some() && direction == Direction::Down {
        let message = "with a greedy source there is always a packet for the station, which would \
                       never sleep: expected a source with a rate, or `power_save` = \"off\"";
        return Some(message.to_owned());
    }
    if 1.0 - path.rest > MAX_LOST {
        return Some(format!(
            "a greedy source sends until its queue is full, but {} % of its datagrams are lost \
             before the queue: expected at most {} %",
            100.0 * (1.0 - path.rest),
            100.0 * MAX_LOST
        ));
    }
    let (name, rate_bps, queue) = path.link?;
    if queue.is_some_and(|queue| !queue.is_plain()) {
        return Some(format!(
            "a greedy source fills the queue of `{name}` to the limit, which the discipline of \
             that queue does not allow: expected a source with a rate, or a queue with only a \
             limit or a threshold"
        ));
    }
    let bits = 8 * u64::from(udp.payload_bytes + udp.header_bytes);
    let datagrams = rate_bps.map_or(0, |rate_bps| rate_bps / bits);
    (datagrams > MAX_DATAGRAMS).then(|| {
        format!(
            "a greedy source fills `{name}` with {datagrams} datagrams per second: expected at \
             most \
             {MAX_DATAGRAMS}"
        )
    })
}
