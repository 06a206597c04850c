//! Tests that any sequence of bytes gives a scenario or problems, and never a panic, and that every
//! scenario meets the engine's assumptions.

use proptest::prelude::*;

use super::super::{Category, Discipline, Format, Problem, Scenario, parse_bytes};
use super::examples::{HOTSPOT, HOTSPOT_JSON, PIFS, SEVEN, TWO_RATES, UDP_BETA};
use super::rows::assert_rows_are_whole;

/// Fragments of scenario files, valid and invalid, that are inserted into files.
const PIECES: &[&str] = &[
    "\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "=",
    ".",
    ",",
    "#",
    "-",
    "0",
    "1e999",
    "nan",
    "inf",
    "null",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "true",
    "\"5 s\"",
    "\"0 s\"",
    "\"1e30 h\"",
    "\"-1 us\"",
    "\"greedy\"",
    "99999999999999999999",
    "-1",
    "65535",
    "1.5",
    "2026-01-01",
    "\n[station.a]\n",
    "\n[cell.ap]\n",
    "\ncount = 10000\n",
    "\nupload = { connections = 3, window = 0 }\n",
    "\nudp_up = \"3 Mbps\"\n",
    "\nstagger = \"1 h\"\n",
    "\ncwmin = 32767\n",
    "\nsegments = 1\n",
    "\naifsn = 1\n",
    "\ntxop_limit = \"1 ms\"\n",
    "\nvoice = { cwmin = 9, txop_packets = 3 }\n",
    "\nqueue.red = { min_th = 5, max_th = 15, weight = 1 }\n",
    "\nqueue = { limit = 9, fq_codel = {} }\n",
    "\ndownload.category = \"video\"\n",
    "\n[gateway]\nwan = \"a\"\nlan = \"b\"\n",
    "\n[vsb]\n",
    "\nvsb = { fairness = \"flow\", rate = \"5 Mbps\" }\n",
    "\"\"\"",
    "'''",
    "\\u0000",
];

const PATHS: &[&str] = &[
    "duration",
    "warmup",
    "name",
    "cell",
    "cell.ap",
    "cell.ap.queue",
    "cell.ap.queue.x",
    "cell.ap.queue.limit",
    "cell.ap.queue.codel",
    "cell.ap.queue.red.min_th",
    "cell.txop_limit",
    "cell.voice.cwmax",
    "station.others.video.aifsn",
    "vsb.fairness",
    "vsb.threshold",
    "station",
    "station.uploader",
    "station.uploader.upload",
    "station.uploader.upload.window",
    "tcp.window",
    "station.sta.count",
    "stagger",
    "udp.packet",
    "record.frames",
    "wire.rate",
    "x",
    "",
    "...",
    "a b",
];

/// Returns random changes of a text. Each change cuts some bytes at a position and inserts a
/// fragment there.
fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, &'static str)>> {
    let cut = prop_oneof![3 => Just(0usize), 2 => 1usize..4, 1 => 4usize..80];
    let piece = prop_oneof![1 => Just(""), 3 => prop::sample::select(PIECES)];
    prop::collection::vec((any::<prop::sample::Index>(), cut, piece), 1..6)
}

fn setting() -> impl Strategy<Value = (String, String)> {
    let value = prop_oneof![
        prop::sample::select(PIECES).prop_map(str::to_owned),
        any::<String>()
    ];
    (prop::sample::select(PATHS).prop_map(str::to_owned), value)
}

fn check(bytes: &[u8], format: Format, settings: &[(String, String)]) {
    match parse_bytes(bytes, format, "x", settings) {
        Ok(scenario) => check_scenario(&scenario),
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().for_each(check_problem);
        }
    }
}

fn check_problem(problem: &Problem) {
    let line = problem.to_string();
    assert!(
        !problem.path.is_empty() && !problem.message.is_empty(),
        "{line}"
    );
    assert!(
        !problem.message.ends_with('.') || problem.message.ends_with("..."),
        "{line}"
    );
    assert!(!line.chars().any(char::is_control), "{line:?}");
    assert!(line.len() < 2_000, "{line}");
    assert_ne!(problem.line, Some(0), "{line}");
    if let Some(hint) = &problem.hint {
        assert!(
            !hint.is_empty() && !hint.chars().any(char::is_control),
            "{hint:?}"
        );
    }
}

/// Checks the assumptions of the engine about scenarios.
fn check_scenario(scenario: &Scenario) {
    assert!(scenario.warmup < scenario.duration);
    assert!(!scenario.flows.is_empty());
    let mut names: Vec<&str> = scenario.stations.iter().map(|s| s.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    let nodes = scenario.stations.iter().map(|s| &s.node);
    for node in nodes.chain([&scenario.bss[0].cell.ap]) {
        for access in Category::ALL.map(|category| node.access(category)) {
            assert!(access.cwmin <= access.cwmax && access.aifsn > 0);
            assert!(access.txop_packets != Some(0));
            assert!(access.txop_packets.is_some() || access.txop_limit.is_some());
        }
        assert!(node.queue.most_packets() > 0 && node.attempts_short > 0 && node.attempts_long > 0);
        assert!(node.control_rate_bps > 0);
    }
    for queue in scenario
        .stations
        .iter()
        .map(|s| &s.node.queue)
        .chain([&scenario.bss[0].cell.ap.queue])
    {
        if let Discipline::Red(red) = &queue.discipline {
            assert!(red.min_th < red.max_th && red.max_p > 0.0 && red.max_p <= 1.0);
        }
    }
    for station in &scenario.stations {
        let access = Category::ALL.map(|category| station.node.access(category));
        assert!(access.iter().all(|access| access.aifsn >= 2));
    }
    for flow in &scenario.flows {
        assert!(flow.start < scenario.duration);
        assert!(flow.stop.is_none_or(|stop| flow.start < stop));
        assert!(
            flow.station()
                .is_none_or(|number| number < scenario.stations.len())
        );
    }
    assert_eq!(scenario.to_json_text(), scenario.to_json().to_string());
    assert_rows_are_whole(scenario);
}

proptest! {
    #[test]
    fn any_bytes_get_an_answer(bytes: Vec<u8>, json: bool) {
        check(&bytes, if json { Format::Json } else { Format::Toml }, &[]);
    }

    #[test]
    fn any_text_gets_an_answer(text: String, json: bool) {
        check(text.as_bytes(), if json { Format::Json } else { Format::Toml }, &[]);
    }

    #[test]
    fn mutated_examples_get_an_answer(
        example in prop::sample::select(vec![HOTSPOT, HOTSPOT_JSON, PIFS, SEVEN, TWO_RATES, UDP_BETA]),
        edits in edits(),
        settings in prop::collection::vec(setting(), 0..3),
    ) {
        let format = if example == HOTSPOT_JSON { Format::Json } else { Format::Toml };
        let mut bytes = example.as_bytes().to_vec();
        for (place, cut, piece) in edits {
            let at = place.index(bytes.len() + 1);
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        check(&bytes, format, &settings);
    }

    #[test]
    fn settings_alone_get_an_answer(settings in prop::collection::vec(setting(), 1..5)) {
        check(HOTSPOT.as_bytes(), Format::Toml, &settings);
    }
}
