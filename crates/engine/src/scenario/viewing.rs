//! Checks of the tables of stations with web pages and with adaptive video.

use super::checks::{check_lifetime, check_segment, missing};
use super::flow_keys::{StationFlow, StationStream, StationWeb};
use super::flow_tables::{PAGES, VIDEOS, made, tcp_layers};
use super::model::*;
use super::root::{Root, RootKeys};
use super::writes::MAX_SEGMENTS;
use crate::app::{VideoKeys, chunk_bytes};
use crate::kernel::time::Span;
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::units::{self, RATE, TIME};

/// Checks the web pages and the adaptive video of all stations.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    if let Some(cell) = root.inside(RootKeys::cell) {
        for station in root.each(RootKeys::station) {
            check_station(root, cell, station, problems);
        }
    }
}

fn check_station(root: &Section, cell: &Section, station: &Section, problems: &mut Problems) {
    for (pages, _) in made(station, PAGES) {
        check_lifetime(pages, problems);
        check_segment(root, cell, station, pages, problems);
        check_spread(
            root,
            pages,
            pages.located(StationWeb::start_spread),
            problems,
        );
        let expected = "the number of pages per second, such as connections = 0.2";
        missing(pages, WebSettings::connections_per_s, expected, problems);
    }
    for (video, _) in made(station, VIDEOS) {
        check_lifetime(video, problems);
        check_segment(root, cell, station, video, problems);
        check_spread(
            root,
            video,
            video.located(StationStream::start_spread),
            problems,
        );
        check_buffer(video, problems);
        check_chunks(root, station, video, problems);
    }
}

/// Checks that TCP can number the segments of a chunk of the highest bitrate.
fn check_chunks(root: &Section, station: &Section, video: &Section, problems: &mut Problems) {
    let layers = tcp_layers(root, station, Some(video));
    let (Some(bitrates), Some(chunk), Some(mss)) = (
        video.located(VideoKeys::bitrates),
        video.value(VideoKeys::chunk),
        Layers(&layers).located(TcpSettings::mss_bytes),
    ) else {
        return; // the default bitrates are low enough
    };
    let mss_bytes = u64::from(mss.value);
    let most_bps = bitrates.value.iter().flatten().max().copied().unwrap_or(0);
    let segments = chunk_bytes(most_bps, chunk).div_ceil(mss_bytes);
    if segments > MAX_SEGMENTS {
        let bits_ns = u128::from(MAX_SEGMENTS * mss_bytes) * 8_000_000_000;
        let limit_bps = bits_ns / u128::from(chunk.0);
        let fault = format!(
            "makes chunks of {segments} segments of {mss_bytes} B; expected at most {}, which are \
             {MAX_SEGMENTS} segments",
            units::show(limit_bps as u64, RATE) // less than `most_bps`
        );
        bitrates.refuse_value(fault, problems);
    }
}

/// Checks that the buffer has room for a chunk, and for the video with which a player starts.
fn check_buffer(video: &Section, problems: &mut Problems) {
    let Some(buffer) = video.located(VideoKeys::buffer) else {
        return;
    };
    let shown = units::show(buffer.value.0, TIME);
    if let Some(chunk) = video.located(VideoKeys::chunk)
        && chunk.value > buffer.value
    {
        let chunk = units::show(chunk.value.0, TIME);
        let fault = format!("is shorter than `chunk`; expected at least {chunk}");
        buffer.refuse_value(fault, problems);
    } else if let Some(startup) = video.located(VideoKeys::startup)
        && startup.value.is_some_and(|startup| startup > buffer.value)
    {
        let fault = format!("is longer than `buffer`; expected at most {shown}");
        startup.refuse_value(fault, problems);
    }
}

/// Checks that every flow of a table may start before the end of the run.
fn check_spread(
    root: &Section,
    table: &Section,
    spread: Option<Located<Span>>,
    problems: &mut Problems,
) {
    let start = table.value(StationFlow::start);
    if let (Some(duration), Some(start), Some(spread)) = (root.value(Root::duration), start, spread)
    {
        let room = Span(duration.0.saturating_sub(start.0));
        if spread.value > room {
            let room = units::show(room.0, TIME);
            let fault =
                format!("lets flows start after the end of the run; expected at most {room}");
            spread.refuse_value(fault, problems);
        }
    }
}
