//! What several values must satisfy together. A value that was refused is not judged again.

use super::access;
use super::channel;
use super::csma;
use super::grammar::{AIFSN, FLOW};
use super::model::{Access, Category};
use super::presets::Preset;
use super::queue;
use super::stations::{self, SHAPES};
use super::vbs;
use super::vsb;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::units::{self, TIME};
use crate::notation::value;

/// Largest MSDU, LLC/SNAP header included (IEEE 802.11-2016, 9.2.4.7). [bytes]
const LARGEST_MSDU: u32 = 2_304;

/// Most datagrams of one source. [1/s]
const MOST_DATAGRAMS: u64 = 1_000_000;

/// Most samples of a time series.
const MOST_SAMPLES: u64 = 1_000_000;

/// Checks a decoded file; the file is in order if this and the decoder found no problem.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    check_times(root, problems);
    stations::check(root, problems);
    check_wired_flows(root, problems);
    vsb::check(root, problems);
    csma::check(root, problems);
    queue::check(root, "queue", problems);
    for (_, link) in root.named("link") {
        queue::check(link, "queue", problems);
        queue::check(link, "back_queue", problems);
    }
    if let Some(wire) = root.table("wire") {
        queue::check(wire, "queue", problems);
    }
    let Some(cell) = root.table("cell") else {
        check_cell_is_not_needed(root, problems);
        return;
    };
    check_cell(cell, problems);
    vbs::check(root, problems);
    if !root.lacks("station") && root.named("station").is_empty() {
        let message = "no station is in it; needed are tables [station.NAME]";
        problems.add(cell.origin, &cell.path, message.to_owned());
    }
    for (_, station) in root.named("station") {
        queue::check(station, "queue", problems);
        check_windows(&[station, cell], problems);
        check_aifsns(&[station, cell], problems);
        channel::check(root, station, problems);
        for key in ["upload", "download"] {
            if let Some(connections) = station.table(key) {
                check_lifetime(connections, problems);
                check_segment(root, cell, station, connections, problems);
            }
        }
        for key in ["udp_up", "udp_down"] {
            if let Some(source) = station.table(key) {
                check_lifetime(source, problems);
                check_source(root, cell, source, problems);
            }
        }
        for key in ["sensor_up", "sensor_down"] {
            if let Some(reports) = station.table(key) {
                check_lifetime(reports, problems);
                check_report(root, cell, station, reports, problems);
            }
        }
    }
}

fn check_cell_is_not_needed(root: &Section, problems: &mut Problems) {
    if let Some((_, station)) = root.named("station").first()
        && !root.lacks("cell")
    {
        let message = "missing; needed with stations is a table with at least the key phy";
        problems.add(station.origin, "cell", message.to_owned());
        return;
    }
    if let Some(wire) = root.table("wire")
        && wire.given
        && !root.lacks("cell")
    {
        let message = "is between an access point and its servers, and there is no cell; allowed \
                       beside a `cell`";
        let hint = "the links of a wired network are tables [link.NAME]".to_owned();
        problems.add_with_hint(wire.origin, &wire.path, message.to_owned(), Some(hint));
    }
}

fn check_wired_flows(root: &Section, problems: &mut Problems) {
    if let Some(tcp) = root.table("tcp")
        && SHAPES.iter().any(|shape| root.table(shape).is_some())
    {
        check_recovery(Layers(&[tcp]), problems);
    }
    for (_, flow) in root.named("flow") {
        check_lifetime(flow, problems);
        if let Some(tcp) = root.table("tcp") {
            check_recovery(Layers(&[flow, tcp]), problems);
        }
        check_web(flow, problems);
        let Some(source) = flow.table("udp") else {
            if let Some(tcp) = root.table("tcp") {
                check_recovery(Layers(&[flow, tcp]), problems);
            }
            continue;
        };
        if let Some(udp) = root.table("udp") {
            check_datagram_rate(source, Layers(&[source, udp]), problems);
        }
        if source.entry("rate").is_none() && !source.lacks("rate") {
            let path = format!("{}.rate", source.path);
            let message = "missing; needed is a rate such as \"2 Mbps\"".to_owned();
            problems.add(source.origin, &path, message);
        }
        let tcp = FLOW.keys().filter(|(_, from)| *from == Some("tcp"));
        let tcp = tcp.map(|(key, _)| key.name).chain(["segments"]);
        for entry in tcp.filter_map(|key| flow.entry(key)) {
            let message = format!("{} is of TCP; allowed is a flow without udp", entry.shown);
            problems.add(entry.origin, &entry.path, message);
        }
    }
}

/// A web source is one flow that never ends by itself.
fn check_web(flow: &Section, problems: &mut Problems) {
    let Some(web) = flow.table("web") else {
        return;
    };
    if web.entry("connections").is_none() && !web.lacks("connections") {
        let path = format!("{}.connections", web.path);
        let message = "missing; needed is a number of connections a second".to_owned();
        problems.add(web.origin, &path, message);
    }
    if let Some(source) = flow.table("udp") {
        let message = "beside `web`; allowed is one of the two".to_owned();
        problems.add(source.origin, &source.path, message);
    }
    for entry in ["count", "segments", "access_spread", "rtt_spread"]
        .iter()
        .filter_map(|key| flow.entry(key))
    {
        let message = format!(
            "{} is of bulk TCP; allowed is a flow without web",
            entry.shown
        );
        problems.add(entry.origin, &entry.path, message);
    }
}

fn check_times(root: &Section, problems: &mut Problems) {
    let Some(duration) = root.entry("duration").and_then(Entry::duration) else {
        return;
    };
    let shown = units::show(duration.0, TIME);
    if let Some(warmup) = root.entry("warmup")
        && warmup.duration().is_some_and(|span| span >= duration)
    {
        let message = format!(
            "{} leaves nothing to measure; allowed is less than the duration of {shown}",
            warmup.shown
        );
        problems.add(warmup.origin, &warmup.path, message);
    }
    let interval = root
        .table("record")
        .and_then(|r| r.entry("series_interval"));
    if let Some(entry) = interval
        && let Some(span) = entry.duration()
        && span > duration
    {
        let message = format!(
            "{} leaves no sample; allowed is at most the duration of {shown}",
            entry.shown
        );
        problems.add(entry.origin, &entry.path, message);
    }
    if let Some(entry) = interval
        && let Some(span) = entry.duration()
        && duration.0 / span.0 > MOST_SAMPLES
    {
        let message = format!(
            "{} makes {} samples of {shown}; allowed are at most {MOST_SAMPLES}",
            entry.shown,
            duration.0 / span.0
        );
        problems.add(entry.origin, &entry.path, message);
    }
}

fn check_cell(cell: &Section, problems: &mut Problems) {
    let Some(ap) = cell.table("ap") else {
        return;
    };
    check_windows(&[cell], problems);
    check_windows(&[ap, cell], problems);
    if let (Some(_), Some(long)) = (cell.table("ap_queue"), ap.table("queue")) {
        let message = "repeats `cell.ap_queue`; allowed is one of the two".to_owned();
        problems.add(long.origin, &long.path, message);
    }
    for (table, key) in [(cell, "ap_queue"), (cell, "queue"), (ap, "queue")] {
        queue::check(table, key, problems);
    }
    let Some(preset) = preset(cell) else {
        return;
    };
    let sifs = Layers(&[cell]).duration("sifs").unwrap_or(preset.sifs);
    if let Some(timeout) = cell.entry("ack_timeout")
        && timeout.duration().is_some_and(|span| span <= sifs)
    {
        let message = format!(
            "{} ends before an ACK begins; allowed is more than the SIFS of {}",
            timeout.shown,
            units::show(sifs.0, TIME)
        );
        problems.add(timeout.origin, &timeout.path, message);
    }
}

/// The preset of the cell, if its name is known.
pub(super) fn preset(cell: &Section) -> Option<&'static Preset> {
    Preset::named(cell.entry("phy")?.word()?)
}

/// CWmin must not be above CWmax, in any category; said of a node that has a say in it, where the
/// nearest table gives one of them.
fn check_windows(node: &[&Section], problems: &mut Problems) {
    let Some(preset) = node.last().and_then(|cell| preset(cell)) else {
        return;
    };
    let gives = |table: &&&Section| {
        let given = |key: &str| table.entry(key).is_some();
        given("cwmin") || given("cwmax")
    };
    for category in Category::ALL {
        let tables = access::tables(node, category);
        let refused = |table: &&Section| table.lacks("cwmin") || table.lacks("cwmax");
        if node.iter().chain(&tables).any(refused) {
            continue;
        }
        let Access { cwmin, cwmax, .. } = access::access(node, preset, category);
        let Some(nearest) = tables.iter().find(gives) else {
            continue;
        };
        let has_a_say = gives(&&node[0]) || tables.first().is_some_and(|own| gives(&own));
        if cwmin <= cwmax || !has_a_say {
            continue;
        }
        let place = match tables.first() {
            Some(own) if own.path == nearest.path => String::new(),
            _ => format!(" in `{}`", node[0].path),
        };
        let (key, message) = if nearest.entry("cwmin").is_some() {
            let allowed = format!("allowed is a whole number from 0 to {cwmax}");
            ("cwmin", format!("{cwmin} is above cwmax{place}; {allowed}"))
        } else {
            let allowed = format!("allowed is a whole number from {cwmin} to 32767");
            ("cwmax", format!("{cwmax} is below cwmin{place}; {allowed}"))
        };
        if let Some(entry) = nearest.entry(key) {
            problems.add(entry.origin, &entry.path, message);
        }
    }
}

/// PIFS is for the access point; said once of a value that several stations share.
fn check_aifsns(station: &[&Section], problems: &mut Problems) {
    for category in Category::ALL {
        let tables = access::tables(station, category);
        let Some(entry) = Layers(&tables).entry("aifsn") else {
            continue;
        };
        if entry.count() != Some(1) || problems.concern(&entry.path) {
            continue;
        }
        let message = format!(
            "{} is too small for a station; allowed {}",
            entry.shown,
            value::allowed(&AIFSN, None)
        );
        let hint = "`cell.ap` has an `aifsn` of its own".to_owned();
        problems.add_with_hint(entry.origin, &entry.path, message, Some(hint));
    }
}

fn check_lifetime(flow: &Section, problems: &mut Problems) {
    let start = flow.entry("start").and_then(Entry::duration);
    if let (Some(start), Some(stop)) = (start, flow.entry("stop"))
        && stop.duration().is_some_and(|stop| stop <= start)
    {
        let message = format!(
            "{} is not after the start; allowed is more than {}",
            stop.shown,
            units::show(start.0, TIME)
        );
        problems.add(stop.origin, &stop.path, message);
    }
}

fn check_segment(
    root: &Section,
    cell: &Section,
    station: &Section,
    connections: &Section,
    problems: &mut Problems,
) {
    if let (Some(tcp), Some(station_tcp)) = (root.table("tcp"), station.table("tcp")) {
        let layers = Layers(&[connections, station_tcp, tcp]);
        check_msdu(cell, layers, ("mss", "header"), connections, problems);
        check_recovery(layers, problems);
    }
}

/// Tahoe has no recovery to which a scoreboard could say what is missing, and only with one can
/// proportional rate reduction count. Said once of a value that several flows share.
fn check_recovery(layers: Layers, problems: &mut Problems) {
    let on = |key: &str| layers.entry(key).filter(|entry| entry.flag() == Some(true));
    if let Some(sack) = on("sack")
        && layers.entry("congestion").and_then(Entry::word) == Some("tahoe")
        && !problems.concern(&sack.path)
    {
        let message = "true contradicts the congestion control \"tahoe\", which sends everything \
                       again after a loss; allowed is false";
        problems.add(sack.origin, &sack.path, message.to_owned());
    }
    if let Some(prr) = on("prr")
        && on("sack").is_none()
        && !problems.concern(&prr.path)
    {
        let message = "true needs selective acknowledgements; allowed is false, or sack = true";
        problems.add(prr.origin, &prr.path, message.to_owned());
    }
}

/// Payload and headers must fit one 802.11 frame; nothing here fragments.
fn check_msdu(
    cell: &Section,
    layers: Layers,
    (payload, header): (&str, &str),
    flow: &Section,
    problems: &mut Problems,
) {
    let (Some(payload), Some(header)) = (layers.entry(payload), layers.entry(header)) else {
        return;
    };
    let (Some(payload_bytes), Some(header_bytes)) = (payload.size(), header.size()) else {
        return;
    };
    let Some(llc_bytes) = Layers(&[cell]).size("llc") else {
        return;
    };
    let room = LARGEST_MSDU.saturating_sub(header_bytes + llc_bytes);
    if payload_bytes <= room {
        return;
    }
    let message = format!(
        "{} with headers of {header_bytes} B and {llc_bytes} B is more than an 802.11 frame \
         carries ({LARGEST_MSDU} B) in `{}`; allowed are at most {room} B",
        payload.shown, flow.path
    );
    problems.add(payload.origin, &payload.path, message);
}

fn check_source(root: &Section, cell: &Section, source: &Section, problems: &mut Problems) {
    let Some(udp) = root.table("udp") else {
        return;
    };
    let layers = Layers(&[source, udp]);
    check_msdu(cell, layers, ("packet", "header"), source, problems);
    let greedy = |entry: &Entry| entry.word() == Some("greedy");
    match (source.entry("rate"), source.entry("arrivals")) {
        (None, arrivals) if !arrivals.is_some_and(greedy) && !source.lacks("rate") => {
            let path = format!("{}.rate", source.path);
            let message = "missing; needed is a rate such as \"2 Mbps\", or \"greedy\"".to_owned();
            problems.add(source.origin, &path, message);
        }
        (Some(rate), Some(arrivals)) if greedy(rate) != greedy(arrivals) => {
            let message = format!(
                "{} contradicts the rate of {}; allowed is \"greedy\" for a greedy source, \
                 \"constant\" or \"poisson\" for one with a rate",
                arrivals.shown, rate.shown
            );
            problems.add(arrivals.origin, &arrivals.path, message);
        }
        _ => check_datagram_rate(source, layers, problems),
    }
}

/// A report goes in one frame, and its deadline leaves some time to measure.
fn check_report(
    root: &Section,
    cell: &Section,
    station: &Section,
    reports: &Section,
    problems: &mut Problems,
) {
    if reports.entry("every").is_none() && !reports.lacks("every") {
        let path = format!("{}.every", reports.path);
        let message = "missing; needed is a duration such as \"10 s\"".to_owned();
        problems.add(reports.origin, &path, message);
    }
    let over_tcp = reports.entry("transport").and_then(Entry::word) == Some("tcp");
    let outer = root.table(if over_tcp { "tcp" } else { "udp" });
    if let (Some(outer), Some(own)) = (outer, station.table("tcp")) {
        let tcp = [reports, own, outer];
        let tables = if over_tcp {
            &tcp[..]
        } else {
            &[reports, outer]
        };
        check_msdu(cell, Layers(tables), ("size", "header"), reports, problems);
    }
    let time = |section: &Section, key: &str| section.entry(key).and_then(Entry::duration);
    if let Some(duration) = time(root, "duration")
        && let Some(deadline) = reports.entry("deadline")
        && deadline.duration().is_some_and(|span| span >= duration)
    {
        let message = format!(
            "{} leaves no report to measure; allowed is less than the duration of {}",
            deadline.shown,
            units::show(duration.0, TIME)
        );
        problems.add(deadline.origin, &deadline.path, message);
    }
}

fn check_datagram_rate(source: &Section, layers: Layers, problems: &mut Problems) {
    if let Some(rate) = source.entry("rate")
        && let (Some(bps), Some(bytes)) = (rate.rate(), layers.size("packet"))
        && bps > MOST_DATAGRAMS * 8 * u64::from(bytes)
    {
        let message = format!(
            "{} in datagrams of {bytes} B is {} a second; allowed are at most {MOST_DATAGRAMS}",
            rate.shown,
            bps / (8 * u64::from(bytes))
        );
        problems.add(rate.origin, &rate.path, message);
    }
}
