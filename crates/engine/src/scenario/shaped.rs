//! Checks that the shaper of CAKE is in front of a link with a constant rate. Other servers of a
//! queue determine themselves when a packet leaves.

use super::model::{Cell, LinkRate, LinkSettings, QueueSetting, Wire};
use super::root::{RootKeys, StationTable};
use super::stations::shapes;
use super::wired::ShapeLink;
use crate::mac::ApTable;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::setting::KeyOf;
use crate::queue::CakeSetting;

/// Refuses the shaper of CAKE in a cell, and in front of a link whose rate follows a trace.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    let cell = root.inside(RootKeys::cell);
    let own = cell.and_then(|cell| cell.inside(Cell::ap));
    let of_cell = [
        cell.and_then(|cell| cell.inside(Cell::ap_queue)),
        cell.and_then(|cell| cell.inside(Cell::queue)),
        own.and_then(|own| own.inside(ApTable::queue)),
    ];
    let stations = root.each(RootKeys::station);
    let of_stations = stations.filter_map(|station| station.inside(StationTable::queue));
    for queue in of_cell.into_iter().flatten().chain(of_stations) {
        refuse(queue, "packets leave when the channel is free", problems);
    }
    let (forth, back) = (LinkSettings::rate, LinkSettings::back_rate);
    let of_links = root.each(RootKeys::link).flat_map(|link| {
        let queue = link.inside(LinkSettings::queue);
        let back_queue = link.inside(LinkSettings::back_queue);
        [
            queue.filter(|_| has_trace(link, &[forth])),
            back_queue.filter(|_| has_trace(link, &[back, forth])),
        ]
    });
    let wire = root.inside(RootKeys::wire).into_iter();
    let of_wire = wire.flat_map(|wire| {
        let back_queue = wire.inside(Wire::back_queue);
        let both = back_queue.is_none() && has_trace(wire, &[back]);
        let queue = wire.inside(Wire::queue);
        [
            queue.filter(|_| has_trace(wire, &[forth]) || both),
            back_queue.filter(|_| has_trace(wire, &[back, forth])),
        ]
    });
    let mut shapes = shapes(root);
    let of_shape = root.inside(RootKeys::queue);
    let of_shape = of_shape.filter(|_| shapes.any(|own| has_trace(own, &[ShapeLink::bottleneck])));
    for queue in of_links.chain(of_wire).chain([of_shape]).flatten() {
        refuse(
            queue,
            "packets leave at the opportunities of the trace",
            problems,
        );
    }
}

/// Refuses the shaper in the table of a queue, if there is one. `why` is the reason.
fn refuse(queue: &Section, why: &str, problems: &mut Problems) {
    let cake = queue.inside(QueueSetting::cake);
    let Some(rate) = cake.and_then(|own| own.located(CakeSetting::bandwidth_bps)) else {
        return;
    };
    if rate.value.is_some() {
        let fault = format!(
            "the shaper has no effect, because {why}; expected the queue of a link with a constant rate"
        );
        let hint = "without `bandwidth`, the other keys of cake have their effect".to_owned();
        rate.refuse_with_hint(fault, Some(hint), problems);
    }
}

/// Returns whether the rate of a link follows a trace. The rate is the value of the first of the
/// keys `keys` that the table of the link contains.
fn has_trace(link: &Section, keys: &[KeyOf<LinkRate>]) -> bool {
    let layers = [link];
    let rate = |&key| LinkRate::nearest(&Layers(&layers), key).ok().flatten();
    let rate = keys.iter().find_map(rate);
    rate.is_some_and(|rate| rate.trace().is_some())
}
