//! The frame log of a complete run, and the capture file made from the frame log.

use std::ops::ControlFlow;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::pcapng;
use lasthop_engine::record::{Fate, FrameKind, FrameRecord};
use lasthop_engine::scenario::{Direction, QueueSetting, Scenario, Transport};

use crate::support;

/// Returns a cell with downloads, an upload and a greedy source. With RTS, channel errors and a small queue, every type
/// of frame and every outcome of a frame occurs.
fn busy_cell(frames: u64) -> Scenario {
    let mut scenario = support::downloads(3, 42, 4);
    scenario.bss[0].cell.rts_threshold_bytes = Some(500);
    scenario.bss[0].cell.ap.queue = QueueSetting::drop_tail(30);
    for station in &mut scenario.stations {
        station.channel.error_up = 0.4;
        station.channel.error_down = 0.1;
    }
    let upload = Transport::Tcp(support::tcp(42));
    support::add_flow(&mut scenario, 0, Direction::Up, upload);
    support::add_flow(&mut scenario, 1, Direction::Up, support::greedy());
    scenario.record.frames = Some(frames);
    scenario
}

fn frames_of(scenario: &Scenario) -> Vec<FrameRecord> {
    lasthop_engine::run(scenario, 1, &|_| ControlFlow::Continue(()))
        .expect("a valid scenario runs")
        .frames
}

#[test]
fn frames_are_logged_in_order_of_their_start_up_to_the_limit() {
    let frames = frames_of(&busy_cell(1000));
    assert_eq!(frames.len(), 1000);
    assert!(frames.is_sorted_by_key(|frame| frame.at));
}

#[test]
fn every_kind_and_fate_occurs_and_control_frames_are_lost_to_collisions_only() {
    let frames = frames_of(&busy_cell(u64::MAX));
    for kind in [
        FrameKind::Data,
        FrameKind::Ack,
        FrameKind::Rts,
        FrameKind::Cts,
    ] {
        assert!(frames.iter().any(|frame| frame.kind == kind), "{kind:?}");
    }
    for fate in [
        Fate::Delivered,
        Fate::Collided,
        Fate::Corrupted,
        Fate::CorruptedAndDiscarded,
    ] {
        assert!(frames.iter().any(|frame| frame.fate == fate), "{fate:?}");
    }
    let corrupted = [Fate::Corrupted, Fate::CorruptedAndDiscarded];
    assert!(
        frames
            .iter()
            .filter(|frame| frame.kind != FrameKind::Data)
            .all(|frame| !corrupted.contains(&frame.fate))
    );
    // each received data frame is followed by its MAC ACK, each received RTS by its CTS
    for pair in frames.windows(2) {
        let answer = match (pair[0].kind, pair[0].fate) {
            (FrameKind::Data, Fate::Delivered) => FrameKind::Ack,
            (FrameKind::Rts, Fate::Delivered) => FrameKind::Cts,
            _ => continue,
        };
        assert_eq!((pair[1].kind, pair[1].to), (answer, pair[0].from));
    }
}

#[test]
fn the_capture_has_every_frame_at_the_size_it_had_on_the_air() {
    let scenario = busy_cell(2000);
    let frames = frames_of(&scenario);
    let mut capture = Vec::new();
    let mut add = |piece: &[u8]| {
        capture.extend_from_slice(piece);
        Ok::<(), ()>(())
    };
    pcapng::write(&scenario, &frames, &mut add).unwrap();
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| capture[at + i])) as usize;
    let mut block = 0;
    let mut sizes = Vec::new();
    while block < capture.len() {
        if word(block) == 6 {
            let radiotap = usize::from(capture[block + 30]);
            sizes.push(word(block + 20) - radiotap);
        }
        block += word(block + 4);
    }
    let expected: Vec<_> = frames.iter().map(|frame| frame.bytes as usize).collect();
    assert_eq!(sizes, expected);
}

/// Checks that the logged backoff equals the idle slots after DIFS or EIFS, with two saturated stations.
#[test]
fn backoff_of_a_frame_is_the_idle_slots_since_its_senders_last_one() {
    let mut scenario = support::dot11b(2, 2);
    for station in 0..2 {
        support::add_flow(&mut scenario, station, Direction::Up, support::greedy());
    }
    scenario.record.frames = Some(1500);
    let phy = scenario.bss[0].cell.phy;
    let frames = frames_of(&scenario);
    let (mut resume, mut counted) = (Time::ZERO, [0u32; 3]);
    let (mut at, mut retries) = (0, 0);
    while at + 3 < frames.len() {
        let start = frames[at].at;
        let senders = frames[at..]
            .iter()
            .take_while(|frame| frame.at == start)
            .count();
        let waited = start.since(resume).0;
        assert_eq!(waited % phy.slot.0, 0);
        for sender in &mut counted {
            *sender += (waited / phy.slot.0) as u32;
        }
        for frame in &frames[at..at + senders] {
            let drawn = std::mem::take(&mut counted[frame.from.index()]);
            let window = (32u32 << (frame.attempt - 1)).min(1024);
            assert!(drawn < window, "{drawn} of {window}");
            if at > 0 {
                assert_eq!(frame.backoff, Some(drawn), "{frame:?}");
            }
            retries += u32::from(frame.attempt > 1);
        }
        let ends = frames[at..at + senders]
            .iter()
            .map(|frame| frame.at + frame.air_time(&phy));
        let end = ends.max().expect("somebody sends");
        at += senders;
        resume = end + phy.eifs_lead() + phy.aifs(2);
        if senders == 1 {
            let ack = &frames[at];
            assert_eq!((ack.kind, ack.backoff), (FrameKind::Ack, None));
            assert_eq!(ack.at, end + phy.sifs);
            resume = ack.at + ack.air_time(&phy) + phy.aifs(2);
            at += 1;
        }
    }
    assert!(retries > 20, "{retries}");
}

#[test]
fn backoffs_are_known_of_nearly_all_that_contend_and_lie_in_their_windows() {
    let frames = frames_of(&busy_cell(u64::MAX));
    let contends = |frame: &&FrameRecord| matches!(frame.kind, FrameKind::Rts | FrameKind::Data);
    let (mut known, mut of) = (0, 0);
    let mut announced = false;
    for frame in frames.iter().filter(contends) {
        let follows = announced && frame.kind == FrameKind::Data;
        announced = frame.kind == FrameKind::Rts && frame.fate == Fate::Delivered;
        if follows {
            assert_eq!(frame.backoff, None);
            continue;
        }
        of += 1;
        if let Some(slots) = frame.backoff {
            known += 1;
            assert!(slots < 32 << (frame.attempt - 1).min(5), "{frame:?}");
        }
    }
    assert!(known > 9 * of / 10, "{known} of {of}");
}

#[test]
fn columns_have_the_frames_of_a_stretch_of_time() {
    let scenario = busy_cell(2000);
    let frames = frames_of(&scenario);
    let (from, to) = (frames[100].at, frames[400].at);
    let text = lasthop_engine::record::frames_json(&scenario, &frames, from, to);
    let columns: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let inside = frames.iter().filter(|frame| (from..to).contains(&frame.at));
    let count = inside.clone().count();
    for (name, column) in columns.as_object().expect("columns by name") {
        assert_eq!(column.as_array().map(Vec::len), Some(count), "{name}");
    }
    let first = inside.clone().next().expect("there are some");
    assert_eq!(columns["start_s"][0], first.at.seconds());
    assert_eq!(
        columns["duration_s"][0],
        first.air_time(&scenario.bss[0].cell.phy).seconds()
    );
    let known = |name: &str| columns[name].as_array().expect("a list").clone();
    assert!(known("sender").iter().any(|name| name == "ap"));
    assert!(known("packet").iter().any(|packet| packet == "segment"));
    assert!(known("kind").iter().any(|kind| kind == "cts"));
}
