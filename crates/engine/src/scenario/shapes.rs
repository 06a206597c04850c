//! The dumbbell and the parking lot: wired topologies of a fixed shape.

use super::model::*;
use super::root::RootKeys;
use super::wired::{Dumbbell, ParkingLot, ShapeLink};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::FileTable;

/// A dumbbell or parking lot of the file.
pub(super) struct Shape<'a> {
    pub(super) section: &'a Section,
    /// Nodes of the topology. Consecutive nodes are connected by a link.
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<String>,
    /// Width of the range of bottleneck rates, divided by the configured rate. [-]
    rate_spread: f64,
    /// Classes of flows: name, number of flows, index of the first node, and index of the last
    /// node.
    pub(super) flows: Vec<(String, u64, usize, usize)>,
}

/// Returns the dumbbell or parking lot of the file; `None` if it has neither.
pub(super) fn shape<'a>(
    root: &'a Section,
    problems: &mut Problems,
) -> Result<Option<Shape<'a>>, Refused> {
    let dumbbell = root.inside(RootKeys::dumbbell);
    match (dumbbell, root.inside(RootKeys::parking_lot)) {
        (None, None) => Ok(None),
        (Some(section), None) => {
            let Dumbbell { flows } = Dumbbell::read(&Layers(&[section]))?;
            Ok(Some(Shape {
                section,
                nodes: vec!["left".to_owned(), "right".to_owned()],
                links: vec!["bottleneck".to_owned()],
                rate_spread: 0.0,
                flows: vec![("flow".to_owned(), flows, 0, 1)],
            }))
        }
        (None, Some(section)) => {
            let own = ParkingLot::read(&Layers(&[section]))?;
            let hops = own.hops as usize;
            let through = ("through".to_owned(), own.flows, 0, hops);
            let across = (0..hops).map(|k| (format!("cross-{}", k + 1), own.cross, k, k + 1));
            Ok(Some(Shape {
                section,
                nodes: (0..=hops).map(|k| format!("r{k}")).collect(),
                links: (1..=hops).map(|k| format!("bottleneck-{k}")).collect(),
                rate_spread: own.rate_spread,
                flows: std::iter::once(through).chain(across).collect(),
            }))
        }
        (Some(_), Some(second)) => {
            let message = "a second shape, in addition to `dumbbell`; expected one of the two";
            Err(second.refuse(message, problems))
        }
    }
}

/// Returns the bottleneck links of a dumbbell or parking lot, in both directions.
pub(super) fn shape_links(root: &Section, shape: &Shape) -> Result<Vec<LinkSettings>, Refused> {
    let mut links = Vec::new();
    let queue = QueueSetting::nearest(&Layers(&[root]), RootKeys::queue)?;
    let ShapeLink { bottleneck, delay } = ShapeLink::read(&Layers(&[shape.section]))?;
    for (k, name) in shape.links.iter().enumerate() {
        let rate = match &bottleneck {
            LinkRate::Constant(bps) => {
                let bps = spread_rate(*bps, shape.rate_spread, k, shape.links.len());
                LinkRate::Constant(bps)
            }
            LinkRate::Unlimited | LinkRate::Trace(_) => bottleneck.clone(),
        };
        let forward = LinkSettings {
            rate,
            delay,
            queue: queue.clone(),
            ..LinkSettings::ideal(name, &shape.nodes[k], &shape.nodes[k + 1])
        };
        let back = forward.back(forward.rate.clone(), QueueSetting::drop_tail(BACK_QUEUE));
        links.extend([forward, back]);
    }
    Ok(links)
}

/// Limit of the queue in the reverse direction of a bottleneck. [packets]
const BACK_QUEUE: u32 = 1_000;

/// Returns the rate of bottleneck `k` of `members`. The rates are evenly spaced around `rate_bps`,
/// in a range of width `spread` times `rate_bps`.
pub(super) fn spread_rate(rate_bps: u64, spread: f64, k: usize, members: usize) -> u64 {
    if members < 2 {
        return rate_bps;
    }
    let place = k as f64 / (members - 1) as f64 - 0.5;
    ((rate_bps as f64 * (1.0 + spread * place)).round() as u64).max(1)
}
