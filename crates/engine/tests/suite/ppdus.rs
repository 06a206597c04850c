//! The frame log of cells with aggregation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lasthop_engine::RunResult;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::record::{Fate, FrameKind, FrameRecord};
use lasthop_engine::scenario::{Format, Scenario, parse};

use super::queues::{mean, simulate};

/// A cell with losses, collisions, a legacy station, A-MSDUs and short reorder time-outs, in which every type of frame
/// occurs.
const BUSY: &str = r#"
duration = "1 s"
warmup = "0.1 s"
replications = 1
tcp.window = 60

[cell]
phy = "802.11ac"
width = "40 MHz"
rts_threshold = "8000 B"
aggregation = { attempts = 2, reorder_timeout = "5 ms" }

[station.near]
count = 2
upload = 1
download = 1

[station.far]
mcs = 2
error_down = 0.7
udp_down = "20 Mbps"
udp_up = "greedy"

[station.old]
phy = "802.11a"
error_up = 0.5
upload = 1

[station.packer]
phy = "802.11n"
upload = 1
error_up = 0.1
aggregation = { amsdu = "7935 B", mpdus = 16, attempts = 3 }
"#;

fn scenario(text: &str, frames: u64) -> Scenario {
    let mut scenario = parse(text, Format::Toml, "busy.toml", &[]).expect("a scenario");
    scenario.record.frames = (frames > 0).then_some(frames);
    scenario
}

fn result(scenario: &Scenario) -> RunResult {
    lasthop_engine::run(scenario, 1, &|_| ControlFlow::Continue(())).expect("it runs")
}

fn frames() -> (Scenario, Vec<FrameRecord>) {
    let scenario = scenario(BUSY, u64::MAX);
    let frames = result(&scenario).frames;
    (scenario, frames)
}

#[test]
fn recording_an_aggregating_cell_changes_no_number() {
    let plain = result(&scenario(BUSY, 0));
    let recorded = result(&scenario(BUSY, u64::MAX));
    assert_eq!(plain.summary_json(), recorded.summary_json());
    assert_eq!(plain.samples_json(), recorded.samples_json());
    assert!(plain.frames.is_empty() && !plain.frames_full);
    assert!(recorded.frames.len() > 1000 && !recorded.frames_full);
}

#[test]
fn every_kind_and_fate_of_frame_occurs() {
    let (_, frames) = frames();
    for kind in [
        FrameKind::Data,
        FrameKind::Ack,
        FrameKind::Rts,
        FrameKind::Cts,
        FrameKind::BlockAck,
        FrameKind::BlockAckReq,
    ] {
        assert!(frames.iter().any(|frame| frame.kind == kind), "{kind:?}");
    }
    for fate in [
        Fate::Delivered,
        Fate::Collided,
        Fate::CollidedAndDiscarded,
        Fate::Corrupted,
        Fate::CorruptedAndDiscarded,
    ] {
        assert!(frames.iter().any(|frame| frame.fate == fate), "{fate:?}");
    }
    let partly = |frame: &FrameRecord| {
        let lost = frame.mpdus().iter().filter(|mpdu| mpdu.is_lost).count();
        frame.fate == Fate::Delivered && lost > 0
    };
    assert!(frames.iter().any(partly));
    let mpdus = || frames.iter().flat_map(FrameRecord::mpdus);
    assert!(mpdus().any(|mpdu| mpdu.packets > 1));
    assert!(mpdus().any(|mpdu| mpdu.is_discarded));
}

#[test]
fn frames_overlap_only_where_they_collide() {
    let (scenario, frames) = frames();
    let phy = &scenario.bss[0].cell.phy;
    assert!(frames.is_sorted_by_key(|frame| frame.at));
    let mut free = Time::ZERO;
    for frame in &frames {
        let collided = matches!(frame.fate, Fate::Collided | Fate::CollidedAndDiscarded);
        let others = frames.iter().filter(|other| other.at == frame.at).count();
        assert_eq!(collided, others > 1, "{frame:?}");
        if others == 1 {
            assert!(frame.at >= free, "{frame:?}");
        }
        free = free.max(frame.at + frame.air_time(phy));
    }
}

#[test]
fn each_exchange_is_answered_sifs_later_by_what_its_mpdus_ask_for() {
    let (scenario, frames) = frames();
    let phy = &scenario.bss[0].cell.phy;
    let mut pairs = 0;
    for pair in frames.windows(2) {
        let (frame, next) = (&pair[0], &pair[1]);
        let answer = match (frame.kind, frame.fate) {
            (FrameKind::Rts, Fate::Delivered) => FrameKind::Cts,
            (FrameKind::BlockAckReq, Fate::Delivered) => FrameKind::BlockAck,
            (FrameKind::Data, Fate::Delivered) if frame.mpdus().len() > 1 => FrameKind::BlockAck,
            (FrameKind::Data, Fate::Delivered) => FrameKind::Ack,
            (FrameKind::Cts, _) => FrameKind::Data,
            _ => continue,
        };
        assert_eq!((next.kind, next.to), (answer, frame.from), "{frame:?}");
        let end = frame.at + frame.air_time(phy);
        assert_eq!(next.at, end + phy.sifs, "{frame:?}");
        if frame.kind != FrameKind::Cts {
            let behind = next.at.since(end) + next.air_time(phy);
            let reserves = frame.reserves;
            assert!(reserves >= behind, "{frame:?}");
            assert_eq!(reserves == behind, frame.kind != FrameKind::Rts);
        }
        pairs += 1;
    }
    assert!(pairs > 500, "{pairs}");
}

/// State of an MPDU, which the test derives from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mpdu {
    Received,
    Lost,
    GivenUp,
}

#[test]
fn mpdus_come_back_until_they_are_received_or_given_up() {
    // RTS is turned off: if an RTS failed, its MPDUs could be discarded without an entry in the log
    let text = BUSY.replace("rts_threshold = \"8000 B\"", "");
    assert_ne!(text, BUSY);
    let mut ways = BTreeMap::new();
    for frame in &result(&scenario(&text, u64::MAX)).frames {
        let Some(ppdu) = &frame.ppdu else { continue };
        let way = (frame.from, frame.to, ppdu.category.name());
        let (start, mpdus) = ways.entry(way).or_insert((0, BTreeMap::new()));
        assert!(ppdu.start >= *start, "the window goes on");
        *start = ppdu.start;
        let mut before = None;
        for mpdu in &ppdu.mpdus {
            assert!(before < Some(mpdu.number), "in order");
            before = Some(mpdu.number);
            let window = ppdu.start..ppdu.start + 64;
            assert!(window.contains(&mpdu.number), "{ppdu:?}");
            let known = match (mpdu.is_lost, mpdu.is_discarded) {
                (false, is_discarded) => {
                    assert!(!is_discarded);
                    Mpdu::Received
                }
                (true, false) => Mpdu::Lost,
                (true, true) => Mpdu::GivenUp,
            };
            let earlier = mpdus.insert(mpdu.number, known);
            assert!(matches!(earlier, None | Some(Mpdu::Lost)), "{earlier:?}");
            assert_eq!(earlier.is_some(), mpdu.attempt > 1, "{mpdu:?}");
        }
    }
    let mut given_up = 0;
    for (way, (start, mpdus)) in &ways {
        let passed = mpdus.range(..start);
        assert!(
            passed.clone().all(|(_, known)| *known != Mpdu::Lost),
            "{way:?}"
        );
        assert_eq!(passed.count(), *start as usize, "{way:?}: none is left out");
        given_up += mpdus
            .values()
            .filter(|known| **known == Mpdu::GivenUp)
            .count();
    }
    assert_eq!(ways.len(), 10);
    assert!(given_up > 100, "{given_up}");
}

#[test]
fn a_block_ack_req_has_its_own_attempts() {
    let (_, frames) = frames();
    let mut attempts = BTreeMap::new();
    let mut most = 0;
    for frame in &frames {
        if !matches!(frame.kind, FrameKind::Data | FrameKind::BlockAckReq) {
            continue;
        }
        let before = attempts.insert(frame.from, 0).unwrap_or(0);
        if frame.kind == FrameKind::BlockAckReq {
            assert_eq!(frame.attempt, before + 1, "{frame:?}");
            assert!(frame.attempt <= 3, "{frame:?}");
            most = most.max(frame.attempt);
            let goes_on = frame.fate == Fate::Collided;
            attempts.insert(frame.from, if goes_on { frame.attempt } else { 0 });
        }
    }
    assert!(most > 1);
}

#[test]
fn backoffs_are_known_and_lie_in_their_windows() {
    let (_, frames) = frames();
    let contends = |frame: &&FrameRecord| {
        let kinds = [FrameKind::Rts, FrameKind::Data, FrameKind::BlockAckReq];
        kinds.contains(&frame.kind)
    };
    let counted = frames.iter().filter(contends);
    let counted: Vec<u32> = counted.filter_map(|frame| frame.backoff).collect();
    assert!(counted.len() > 300, "{}", counted.len());
    assert!(counted.iter().all(|slots| *slots <= 1023));
    assert!(counted.iter().any(|slots| *slots > 15));
}

/// Checks the maximum number of frames in the log. An aggregate counts as one frame per MPDU. It is logged only if all
/// its MPDUs fit into the log.
#[test]
fn the_log_ends_before_the_frame_for_which_there_is_no_room() {
    let (_, all) = frames();
    let few = result(&scenario(BUSY, 500));
    assert!(few.frames_full);
    let count: usize = few.frames.iter().map(FrameRecord::count).sum();
    assert!(count <= 500);
    assert_eq!(few.frames, all[..few.frames.len()]);
    assert!(count + all[few.frames.len()].count() > 500);
}

#[test]
fn columns_have_mpdus_by_their_sequence_numbers() {
    let (scenario, frames) = frames();
    let end = frames[frames.len() - 1].at;
    let text = lasthop_engine::record::frames_json(&scenario, &frames, Time::ZERO, end);
    let columns: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    for (index, frame) in frames.iter().enumerate().take(2000) {
        let of = |name: &str| &columns[name][index];
        if frame.kind != FrameKind::Data {
            assert!(of("mpdus").is_null() && of("sequence").is_null());
            continue;
        }
        let lost = frame.mpdus().iter().filter(|mpdu| mpdu.is_lost);
        let lost: Vec<u32> = lost.map(|mpdu| mpdu.number % 4096).collect();
        assert_eq!(*of("mpdus"), frame.mpdus().len());
        assert_eq!(*of("mpdus_lost"), lost.len());
        assert_eq!(*of("lost"), serde_json::json!(lost));
    }
}

/// Linux starts no BlockAck session for voice, so that each voice packet has a separate exchange. Voice uses
/// aggregation only if the scenario table of this category has aggregation settings.
#[test]
fn voice_has_an_mpdu_in_a_ppdu_unless_its_table_says_otherwise() {
    let mpdus = |category: &str, settings: &[(&str, &str)]| {
        let source = format!("{{ rate = \"greedy\", category = \"{category}\" }}");
        let text = format!(
            "duration = \"0.2 s\"\nwarmup = \"0.1 s\"\nreplications = 1\n\
             cell = {{ phy = \"802.11ac\" }}\nstation.a = {{ mcs = 7, udp_down = {source}, udp_up = {source} }}\n"
        );
        let result = simulate(&text, settings);
        [("aps", "ap"), ("stations", "a")]
            .map(|(list, name)| mean(&result, list, name, "mpdus_per_ppdu"))
    };
    assert_eq!(mpdus("voice", &[]), [1.0; 2]);
    // the aggregation setting of the node does not apply to voice
    assert_eq!(
        mpdus("voice", &[("cell.aggregation.mpdus", "32")]),
        [1.0; 2]
    );
    let [ap, station] = mpdus("voice", &[("cell.ap.voice.aggregation.mpdus", "32")]);
    assert!(ap > 16.0 && station == 1.0, "{ap} {station}");
    assert!(mpdus("video", &[]).iter().all(|&mpdus| mpdus > 16.0));
}
