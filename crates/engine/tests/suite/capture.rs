//! The frame log of a whole run, and the capture made of it.

use std::ops::ControlFlow;

use lasthop_engine::pcapng;
use lasthop_engine::record::{Fate, FrameKind, FrameRecord};
use lasthop_engine::scenario::{Direction, QueueSetting, Scenario, Transport};

use crate::support;

/// Downloads, an upload and a greedy source, with RTS for data frames, channel errors and a
/// small queue: every kind of frame and fate.
fn busy_cell(frames: u64) -> Scenario {
    let mut scenario = support::downloads(3, 42, 4);
    scenario.cell.rts_threshold_bytes = Some(500);
    scenario.cell.ap.queue = QueueSetting::drop_tail(30);
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
    let capture = pcapng::to_bytes(&scenario, &frames);
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
