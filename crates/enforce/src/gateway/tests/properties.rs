//! Checks with random bytes that parsing returns a gateway or problems, and never panics.

use lasthop_engine::scenario::{Files, Format, Problem};
use proptest::prelude::*;

use super::{LEAST, SMALL, parse};
use crate::EXTENSION;

/// Fragments of gateway files, valid and invalid, from which random files are made.
const PIECES: &[&str] = &[
    "\n",
    "\"",
    "{",
    "}",
    "=",
    ".",
    "#",
    "0",
    "true",
    "\"0 s\"",
    "\"off\"",
    "\u{2028}",
    "\0",
    "\n[gateway]\nwan = \"a\"\nlan = \"b\"\n",
    "\n[gateway.ap.a]\nsubnets = \"::/0\"\n",
    "\n[gateway.ap.b]\ninterface = \"c\"\nsnmp.agent = \"10.0.0.1\"\n",
    "\n[gateway.station.a]\naddress = \"::2 1.2.3.4\"\nmac = \"2:2\"\n",
    "\n[gateway.station.b]\nap = \"a\"\naddress = \"::2\"\n",
    "\n[gateway.discover]\nneighbours = false\n",
    "\n[gateway.wce]\nmin = \"9 Mbps\"\nlow = \"1 s\"\n",
    "\nfairness = \"flow\"\n",
    "\nduration = \"1 s\"\n",
];

const PATHS: &[&str] = &[
    "gateway",
    "gateway.wan",
    "gateway.lan",
    "gateway.ap",
    "gateway.ap.a",
    "gateway.ap.a.wce.max",
    "gateway.station.a.address",
    "gateway.discover.neighbours",
    "gateway.x",
    "duration",
];

fn check(bytes: &[u8], settings: &[(String, String)]) {
    for format in [Format::Toml, Format::Json] {
        let files = Files::new();
        let scenario = EXTENSION.parse_with_scenario(bytes, format, "x", settings, &files);
        if let Err(problems) = scenario {
            check_problems(&problems);
        }
        match parse(bytes, format, "x", settings) {
            Ok(gateway) => {
                assert!(!gateway.aps.is_empty() && gateway.wan != gateway.lan);
                assert!(gateway.to_json().is_object());
            }
            Err(problems) => check_problems(&problems),
        }
    }
}

fn check_problems(problems: &[Problem]) {
    assert!(!problems.is_empty());
    for problem in problems {
        let line = problem.to_string();
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(
            !line.contains("a defect of lasthop") && line.len() < 2_000,
            "{line}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_gets_an_answer(text: String) {
        check(text.as_bytes(), &[]);
    }

    #[test]
    fn mutated_gateways_get_an_answer(
        simulated: bool,
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..9, prop::sample::select(PIECES)),
            1..6,
        ),
        settings in prop::collection::vec(
            (prop::sample::select(PATHS), prop::sample::select(PIECES)),
            0..3,
        ),
    ) {
        let scenario = if simulated { SMALL } else { "" };
        let mut bytes = format!("{scenario}{LEAST}").into_bytes();
        for (place, cut, piece) in edits {
            let at = place.index(bytes.len() + 1);
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        let settings: Vec<(String, String)> = settings
            .into_iter()
            .map(|(path, value)| (path.to_owned(), value.to_owned()))
            .collect();
        check(&bytes, &settings);
    }
}
