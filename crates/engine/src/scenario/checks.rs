//! What several values must satisfy together. A value that was refused is not judged again.

use super::decode::{Entry, Section};
use super::layers::Layers;
use super::presets::Preset;
use super::problem::Problems;
use super::stations;
use super::units::{self, TIME};

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
    let Some(cell) = root.table("cell") else {
        return;
    };
    check_cell(cell, problems);
    for (_, station) in &root.named {
        check_windows(&[station, cell], problems);
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
    if ap.entry("cwmin").is_some() || ap.entry("cwmax").is_some() {
        check_windows(&[ap, cell], problems);
    }
    if let (Some(short), Some(long)) = (cell.entry("ap_queue"), ap.entry("queue"))
        && short.given
    {
        let message = format!(
            "{} repeats `cell.ap_queue`; allowed is one of the two",
            long.shown
        );
        problems.add(long.origin, &long.path, message);
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

/// CWmin must not be above CWmax; said where the nearest table gives one of them.
fn check_windows(layers: &[&Section], problems: &mut Problems) {
    let given_here = |key: &str| layers[0].entry(key).is_some();
    if !given_here("cwmin") && !given_here("cwmax") {
        return;
    }
    let layers = Layers(layers);
    let Some(preset) = layers.0.last().and_then(|cell| preset(cell)) else {
        return;
    };
    let cwmin = layers.count("cwmin").unwrap_or(preset.cwmin);
    let cwmax = layers.count("cwmax").unwrap_or(preset.cwmax);
    if cwmin <= cwmax {
        return;
    }
    let (key, message) = if given_here("cwmin") {
        let message =
            format!("{cwmin} is above cwmax; allowed is a whole number from 0 to {cwmax}");
        ("cwmin", message)
    } else {
        let message =
            format!("{cwmax} is below cwmin; allowed is a whole number from {cwmin} to 32767");
        ("cwmax", message)
    };
    if let Some(entry) = layers.entry(key) {
        problems.add(entry.origin, &entry.path, message);
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
        (Some(rate), _) => {
            if let (Some(bps), Some(bytes)) = (rate.rate(), layers.size("packet"))
                && bps > MOST_DATAGRAMS * 8 * u64::from(bytes)
            {
                let message = format!(
                    "{} in datagrams of {bytes} B is {} a second; allowed are at most \
                     {MOST_DATAGRAMS}",
                    rate.shown,
                    bps / (8 * u64::from(bytes))
                );
                problems.add(rate.origin, &rate.path, message);
            }
        }
        _ => {}
    }
}
