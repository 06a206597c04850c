//! Refuses settings that have no effect because of other settings. A user who sets a key expects an
//! effect.

use super::flow_tables::{CONNECTIONS, PAGES, VIDEOS, made};
use super::model::Scenario;
use super::model::{LinkRate, LinkSettings, Record, Wire};
use super::root::{RootKeys, StationTable};
use super::shaped;
use super::stations::shapes;
use super::wired::{FlowTable, Hosts, ParkingLot, START_SPREAD, ShapeLink};
use crate::echo::EchoKeys;
use crate::kernel::time::Span;
use crate::mac::PowerSave;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems};
use crate::notation::setting::{KeyOf, keys};
use crate::notation::units::{self, TIME};
use crate::tcp::{CongestionAlgorithm, TcpSettings};

/// Default of the key `utilisation_bin`. A scenario shorter than this default is accepted.
const DEFAULT_BIN: Span = Span(100_000_000);

/// Refuses settings without effect on the scenario.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    check_bin(root, scenario, problems);
    check_queues(root, problems);
    shaped::check(root, problems);
    check_starts(root, scenario, problems);
    check_access_spread(root, problems);
    check_rate_spread(root, problems);
    check_beacons(root, scenario, problems);
    check_pings(root, scenario, problems);
    check_congestion(root, problems);
}

/// Checks that the measured time contains at least one whole time bin. The smallest utilisation is
/// computed over such bins.
fn check_bin(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let record = root.inside(RootKeys::record);
    let Some(entry) = record.and_then(|record| record.present(Record::utilisation_bin)) else {
        return;
    };
    // bins are counted from the start of the run, not from the end of the warm-up
    let (from, to) = (scenario.warmup.0, scenario.duration.0);
    let Span(width) = entry.value;
    if entry.value == DEFAULT_BIN || from.div_ceil(width) < to / width {
        return;
    }
    let [from, to, less] = [from, to, (to - from) / 2].map(|time| units::show(time, TIME));
    let fault = format!(
        "leaves no whole bin between the warm-up of {from} and the end at {to}; expected less, \
         such as {less}"
    );
    entry.refuse_value(fault, problems);
}

/// Checks that each queue feeds a link with a limited rate; other queues stay empty.
fn check_queues(root: &Section, problems: &mut Problems) {
    let has_shape = shapes(root).next().is_some();
    if let Some(queue) = root.inside(RootKeys::queue).filter(|_| !has_shape) {
        let message = "this is the queue of bottlenecks, and the file has no bottleneck; accepted \
                       with `dumbbell` or `parking_lot`";
        let hint = "for other queues set `cell.ap_queue`, or `queue` of a link".to_owned();
        queue.refuse_with_hint(message, Some(hint), problems);
    }
    let (forth, back) = (LinkSettings::rate, LinkSettings::back_rate);
    let of_links = root.each(RootKeys::link).flat_map(|link| {
        let queue = link.inside(LinkSettings::queue);
        let back_queue = link.inside(LinkSettings::back_queue);
        [
            queue.filter(|_| !has_rate(link, &[forth])),
            back_queue.filter(|_| !has_rate(link, &[back, forth])),
        ]
    });
    let wire = root.inside(RootKeys::wire).into_iter();
    let of_wire = wire.flat_map(|wire| {
        let back_queue = wire.inside(Wire::back_queue);
        let both = back_queue.is_none() && has_rate(wire, &[back]);
        let queue = wire.inside(Wire::queue);
        [
            queue.filter(|_| !has_rate(wire, &[forth]) && !both),
            back_queue.filter(|_| !has_rate(wire, &[back, forth])),
        ]
    });
    for queue in of_links.chain(of_wire).flatten() {
        let message = "a link without a rate never lets a packet wait; accepted with a rate";
        queue.refuse(message, problems);
    }
}

/// Returns whether a link has a limited rate. The rate is the value of the first of the keys `keys`
/// that the table of the link contains.
fn has_rate(link: &Section, keys: &[KeyOf<LinkRate>]) -> bool {
    let layers = [link];
    let rate = |&key| LinkRate::nearest(&Layers(&layers), key).ok().flatten();
    let rate = keys.iter().find_map(rate);
    rate.is_some_and(|rate| rate != LinkRate::Unlimited)
}

/// Checks that every flow starts before the end of the run.
fn check_starts(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let stations = root.each(RootKeys::station);
    let of_stations = stations.flat_map(|station| made(station, CONNECTIONS));
    let of_stations = of_stations.map(|(table, _)| table);
    for table in (shapes(root).chain(root.each(RootKeys::flow))).chain(of_stations) {
        let start = table.value(FlowTable::start).unwrap_or(Span::ZERO);
        let room = Span(scenario.duration.0.saturating_sub(start.0));
        if let Some(spread) = table.located(Hosts::start_spread)
            && spread.value != START_SPREAD
            && spread.value > room
        {
            let room = units::show(room.0, TIME);
            let fault =
                format!("lets flows start after the end of the run; expected at most {room}");
            spread.refuse_value(fault, problems);
        }
    }
}

/// Checks that the file sets an access rate if it sets a spread of access rates.
fn check_access_spread(root: &Section, problems: &mut Problems) {
    let shape = shapes(root).next();
    let flows = || root.each(RootKeys::flow);
    let spreads = |table: &Section| table.value(Hosts::access_spread) > Some(0.0);
    let has_rate = |table: &Section| {
        let layers: Vec<&Section> = std::iter::once(table).chain(shape).collect();
        let rate = Layers(&layers).located(Hosts::access);
        rate.is_some_and(|rate| rate.value.is_some())
    };
    let own = flows().filter(|flow| spreads(flow) && !has_rate(flow));
    let inherits = |flow: &Section| flow.located(Hosts::access_spread).is_none() && has_rate(flow);
    let of_shape =
        shape.filter(|shape| spreads(shape) && !has_rate(shape) && !flows().any(inherits));
    let spreading = of_shape.into_iter().chain(own);
    for entry in spreading.filter_map(|table| table.located(Hosts::access_spread)) {
        let fault =
            "spreads no rate, since hosts have no `access`; expected hosts with `access`, or 0";
        entry.refuse_value(fault, problems);
    }
}

/// Checks that a parking lot with a spread of bottleneck rates has several bottlenecks, and that
/// their configured rate is constant.
fn check_rate_spread(root: &Section, problems: &mut Problems) {
    let lot = root.inside(RootKeys::parking_lot);
    let Some((lot, spread)) =
        lot.and_then(|lot| Some((lot, lot.located(ParkingLot::rate_spread)?)))
    else {
        return;
    };
    if spread.value == 0.0 {
        return;
    }
    let rate = LinkRate::nearest(&Layers(&[lot]), ShapeLink::bottleneck);
    if let Ok(Some(LinkRate::Trace(_))) = rate {
        let fault = "spreads no rate, since bottlenecks follow a trace; expected a constant \
                     `bottleneck`, or 0";
        spread.refuse_value(fault, problems);
    } else if lot.value(ParkingLot::hops) == Some(1) {
        let fault = "spreads the rate of one bottleneck; expected at least 2 `hops`, or 0";
        spread.refuse_value(fault, problems);
    }
}

/// Refuses keys of beacons if no station sleeps.
fn check_beacons(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let Some(cell) = root.inside(RootKeys::cell).filter(|_| !scenario.sleeps()) else {
        return;
    };
    let keys = keys!(PowerSave: beacon_interval, power_save_queue_packets);
    for entry in keys.into_iter().filter_map(|key| cell.given(key)) {
        let fault = "this key is only for stations that sleep, and no station sleeps; accepted \
                     with `power_save` of a station";
        entry.refuse(fault, problems);
    }
}

/// Refuses keys of pings if no virtual shared bottleneck estimates its rate.
fn check_pings(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let bottleneck = scenario.bottleneck.as_ref();
    if bottleneck.is_some_and(|vsb| vsb.rate_bps.is_none()) {
        return;
    }
    let why = "no `vsb` pings the station; accepted with a `vsb` that estimates its rate";
    for station in root.each(RootKeys::station) {
        let keys = keys!(EchoKeys: ping_delay, ping_loss);
        for entry in keys.into_iter().filter_map(|key| station.given(key)) {
            entry.refuse_value(format!("has no effect, since {why}"), problems);
        }
        for change in station.each(EchoKeys::pings) {
            change.refuse(why, problems);
        }
    }
}

/// Refuses parameters of a congestion control that no connection uses.
fn check_congestion(root: &Section, problems: &mut Problems) {
    let stations = || root.each(RootKeys::station);
    let of_stations = stations().filter_map(|station| station.inside(StationTable::tcp));
    let of_connections = stations().flat_map(|station| {
        let pages = made(station, PAGES).chain(made(station, VIDEOS));
        made(station, CONNECTIONS).chain(pages)
    });
    let tables: Vec<&Section> = (root.inside(RootKeys::tcp).into_iter())
        .chain(of_stations)
        .chain(of_connections.map(|(table, _)| table))
        .chain(root.each(RootKeys::flow))
        .collect();
    let key = TcpSettings::congestion;
    let chosen: Vec<_> = tables
        .iter()
        .filter_map(|table| table.located(key))
        .collect();
    // if an override selects another congestion control, the file may still give parameters of the
    // congestion control that was replaced
    let overruled = chosen.iter().any(|control| control.is_set());
    for (name, control) in [
        (TcpSettings::compound.name(), CongestionAlgorithm::Compound),
        (
            TcpSettings::cubic_linux.name(),
            CongestionAlgorithm::CubicLinux,
        ),
        (TcpSettings::dctcp.name(), CongestionAlgorithm::Dctcp),
        (TcpSettings::prague.name(), CongestionAlgorithm::Prague),
        (TcpSettings::bbr.name(), CongestionAlgorithm::Bbr),
        (TcpSettings::bbr3.name(), CongestionAlgorithm::Bbr3),
    ] {
        if chosen.iter().any(|chosen| chosen.value == control) {
            continue;
        }
        let given = tables.iter().filter_map(|table| table.table(name));
        let is_set = |own: &Section| matches!(own.origin, Origin::Setting(_));
        for own in given.filter(|own| own.given && (!overruled || is_set(own))) {
            let needed = format!("{} = \"{name}\"", key.name());
            own.refuse(format!("has no effect; expected {needed}"), problems);
        }
    }
}
