//! Tests of files that are not scenarios, and of scenarios that are invalid as a whole.

use super::super::{Format, LARGEST_FILE, parse, parse_bytes};
use super::{SMALL, complaints, message_of, toml};

fn message_of_bytes(bytes: &[u8]) -> String {
    complaints(parse_bytes(bytes, Format::Toml, "x.toml", &[]))
}

fn message_of_json(text: &str) -> String {
    complaints(parse(text, Format::Json, "x.json", &[]))
}

#[test]
fn an_empty_file_says_what_is_needed() {
    let expected = "x.toml: the file is empty; expected a scenario with at least a duration and flows: stations with a cell, or wired links";
    assert_eq!(message_of_bytes(b""), expected);
    assert_eq!(message_of_bytes(b"\n  # a comment\n"), expected);
}

#[test]
fn a_large_file_is_refused_unread() {
    let large = vec![b'['; 10_000_000];
    assert_eq!(
        message_of_bytes(&large),
        "x.toml: more than 1048576 bytes, which is too large for a scenario"
    );
    let mut largest = SMALL.as_bytes().to_vec();
    largest.resize(LARGEST_FILE, b'\n');
    assert_eq!(message_of_bytes(&largest), "");
}

#[test]
fn a_binary_file_is_not_text() {
    assert_eq!(
        message_of_bytes(b"\x7fELF\n\x00"),
        "x.toml:2: not text (a NUL byte); expected a scenario in TOML or JSON"
    );
    assert_eq!(
        message_of_bytes(b"name = \"k\xe4se\""),
        "x.toml:1: not text in UTF-8; expected a scenario in TOML or JSON"
    );
}

#[test]
fn syntax_errors_name_the_line() {
    assert_eq!(
        message_of_bytes(b"duration = \"10 s\"\nname"),
        "x.toml:2: not valid TOML: key with no value, expected `=`"
    );
    assert_eq!(
        message_of_json("{\"a\": 1,\n \"b\": }"),
        "x.json:2: not valid JSON: expected value"
    );
    let comma = "not valid JSON: nothing follows this comma; \
                 expected commas between entries, not after the last";
    assert_eq!(
        message_of_json("{\"a\": 1,\n \"b\": 2, \n}"),
        format!("x.json:2: {comma}")
    );
    assert_eq!(
        message_of_json("{\"a\":\n [1,]}"),
        format!("x.json:2: {comma}")
    );
    assert_eq!(
        message_of_json("[]"),
        "x.json: a list is not a table; \
         expected a scenario with at least a duration and flows: stations with a cell, or wired links"
    );
}

#[test]
fn a_table_in_braces_that_is_extended_elsewhere_has_a_remedy() {
    let hint = "hint: a table in braces, such as `vsb = {}`, cannot get keys from other lines: \
                write `[vsb]` instead";
    let message = message_of_bytes(b"vsb = {}\n[vsb.group.a]\nmax = \"1 Mbps\"\n");
    assert!(
        message.starts_with("x.toml:2: not valid TOML: cannot extend"),
        "{message}"
    );
    assert!(message.ends_with(hint), "{message}");
}

#[test]
fn an_unclosed_bracket_is_one_problem_in_the_line_that_opens_it() {
    let brace = "not valid TOML: `{` opens here and is not closed";
    for text in [
        "duration = \"1 s\"\ncell = { phy = \"802.11b\"\ntcp = { window = 2 }\n[station.a]",
        "name = '{['\ncell = { phy = \"\\\"}\"  # }\n[station.a]\nupload = 1\n",
        "name = \"\"\"}\"\"\"\ncell = {\n  phy = \"802.11b\",\n\n[station.a]\nupload = 1\n",
    ] {
        assert_eq!(
            message_of_bytes(text.as_bytes()),
            format!("x.toml:2: {brace}"),
            "{text}"
        );
    }
    assert_eq!(
        message_of_bytes(b"a = 1\ntcp = { window = [1, 2 }\nb = ]\n"),
        "x.toml:2: not valid TOML: `[` opens here and is not closed"
    );
    assert_eq!(
        message_of_bytes(b"a = = 1\n[station.a\nupload = 1\n"),
        "x.toml:1: not valid TOML: extra `=`, expected nothing\n\
         x.toml:2: not valid TOML: `[` opens here and is not closed"
    );
    assert_eq!(
        message_of_bytes(b"cell = { phy = \"802.11b }\n"),
        "x.toml:1: not valid TOML: `\"` opens here and is not closed"
    );
}

#[test]
fn a_name_defined_twice_is_found_in_tables_inline_tables_and_json() {
    let twice = "defined twice; expected one definition of each name";
    assert_eq!(
        message_of("upload = 2"),
        format!("x.toml:5: `station.a.upload`: {twice}")
    );
    assert_eq!(
        message_of("[station.a]"),
        format!("x.toml:5: `station.a`: {twice}")
    );
    assert_eq!(
        message_of("tcp = { window = 1, window = 2 }"),
        format!("x.toml:5: `station.a.tcp.window`: {twice}")
    );
    assert_eq!(
        message_of_json(
            r#"{"duration": "1 s", "cell": {"phy": "802.11b"},
                "station": {"a": {"upload": 1}, "a": {"upload": 2}}}"#
        ),
        format!("x.json:2: `station.a`: {twice}")
    );
}

#[test]
fn what_is_needed_and_missing_is_named() {
    assert_eq!(
        complaints(toml("replications = 3", &[])),
        "x.toml: `duration`: missing; expected a duration from 1 ms to 1000000 s\n\
         x.toml: `station`: missing; expected tables [station.NAME] with flows, or flows over \
         wired links"
    );
}

#[test]
fn many_flows_leave_less_time() {
    let text = "duration = \"1000000 s\"\ndumbbell = { bottleneck = \"100 Gbps\", delay = \"5 ms\", flows = 9 }";
    let message = |set: &[(&str, &str)]| complaints(toml(text, set));
    assert!(toml(text, &[]).is_ok());
    let rest = "`duration`: \"1000000 s\" is more than can be simulated with this many flows; \
                expected at most 70368 s\n\
                hint: fewer flows can be simulated for longer";
    let many = ("dumbbell.flows", "100000");
    assert_eq!(message(&[many]), format!("x.toml:1: {rest}"));
    let long = ("duration", "\"70369 s\"");
    let rest = rest.replace("1000000 s", "70369 s");
    assert_eq!(
        message(&[many, long]),
        format!("--set duration=\"70369 s\": {rest}")
    );
    // 18 of the 64 bits are the number of the pending event; the other bits are its time in
    // nanoseconds, so 70 368 s is the largest whole number of seconds
    assert_eq!((u64::MAX >> 18) / 1_000_000_000, 70_368);
    assert!(toml(text, &[many, ("duration", "\"70368 s\"")]).is_ok());
}

#[test]
fn stations_and_flows_are_needed() {
    assert_eq!(
        complaints(toml(
            "duration = \"1 s\"\ndumbbell.bottleneck = \"5 Mbps\"",
            &[]
        )),
        "x.toml:2: `dumbbell.flows`: missing; expected a number of flows, or tables [flow.NAME]"
    );
    let none = "`dumbbell.flows`: 0 makes no flow; expected a number from 1 to 100000, or 0 with \
                tables [flow.NAME]";
    let dumbbell = "duration = \"1 s\"\ndumbbell.bottleneck = \"5 Mbps\"\ndumbbell.flows = ";
    assert_eq!(
        complaints(toml(&format!("{dumbbell}0"), &[])),
        format!("x.toml:3: {none}")
    );
    assert_eq!(
        complaints(toml(&format!("{dumbbell}2"), &[("dumbbell.flows", "0")])),
        format!("--set dumbbell.flows=0: {none}")
    );
    assert_eq!(
        complaints(toml(
            "duration = \"1 s\"\ncell.phy = \"802.11b\"\nstation = {}",
            &[]
        )),
        "x.toml:3: `station`: empty; expected tables [station.NAME]"
    );
    let idle = SMALL.replace("upload = 1", "upload = 0");
    assert_eq!(
        complaints(toml(&idle, &[])),
        "x.toml:3: `station`: no station has a flow; \
         expected at least one upload, download, udp_up, udp_down, sensor_up, sensor_down, call, ping, \
         web or stream, or [programs] for an emulation"
    );
}

#[test]
fn station_names_are_plain_and_unique_after_expansion() {
    let allowed = "expected a name of up to 64 ASCII letters, digits, `-` and `_`, \
                   the first a letter or digit";
    assert_eq!(
        message_of("[station.\"käse\"]"),
        format!("x.toml:5: `station.\"käse\"`: \"käse\" is not a plain name; {allowed}")
    );
    assert_eq!(
        message_of("[station.\"\"]"),
        format!("x.toml:5: `station.\"\"`: \"\" is empty; {allowed}")
    );
    assert_eq!(
        message_of("[station.ap]"),
        format!("x.toml:5: `station.ap`: \"ap\" is the access point's name; {allowed}")
    );
    assert_eq!(
        message_of("[station.b]\ncount = 2\n[station.b-1]"),
        "x.toml:7: `station.b-1`: station name `b-1` is made twice, by `station.b` too; \
         expected unique names"
    );
}

#[test]
fn absurd_numbers_of_stations_and_flows_are_refused_before_they_are_made() {
    assert_eq!(
        message_of("count = 10000\n[station.b]\ncount = 1"),
        "x.toml:6: `station`: 10001 stations in total; expected at most 10000"
    );
    assert_eq!(
        message_of("count = 10000\ndownload = 100000"),
        "x.toml:3: `station`: 1000010000 flows in total; expected at most 100000"
    );
}

#[test]
fn the_largest_scenarios_are_accepted() {
    let scenario = toml(
        &SMALL.replace("upload = 1", "count = 10000\nupload = 10"),
        &[],
    )
    .unwrap();
    assert_eq!(scenario.stations.len(), 10_000);
    assert_eq!(scenario.flows.len(), 100_000);
}

#[test]
fn warmup_leaves_something_to_measure() {
    assert_eq!(
        complaints(toml(&format!("warmup = \"10 s\"\n{SMALL}"), &[])),
        "x.toml:1: `warmup`: \"10 s\" leaves nothing to measure; \
         expected less than the duration of 10 s"
    );
}

#[test]
fn a_series_has_at_least_one_sample() {
    assert_eq!(
        complaints(toml(SMALL, &[("record.series_interval", "11 s")])),
        "--set record.series_interval=11 s: `record.series_interval`: \"11 s\" leaves no sample; \
         expected at most the duration of 10 s"
    );
    assert!(toml(SMALL, &[("record.series_interval", "10 s")]).is_ok());
    let late = [("record.series_interval", "3 s"), ("record.from", "9.1 s")];
    assert_eq!(
        complaints(toml(SMALL, &late)),
        "--set record.series_interval=3 s: `record.series_interval`: \"3 s\" leaves no sample; \
         expected at most the duration of 10 s"
    );
    assert!(toml(SMALL, &[late[0], ("record.from", "9 s")]).is_ok());
}

#[test]
fn something_is_left_to_record() {
    assert_eq!(
        complaints(toml(SMALL, &[("record.from", "10 s")])),
        "--set record.from=10 s: `record.from`: \"10 s\" leaves nothing to record; \
         expected less than the duration of 10 s"
    );
}

#[test]
fn the_queue_of_the_access_point_is_given_once() {
    let text = SMALL.replace("802.11b\"", "802.11b\", ap_queue = 7, ap.queue = 8");
    assert_eq!(
        complaints(toml(&text, &[])),
        "x.toml:2: `cell.ap.queue`: repeats `cell.ap_queue`; expected one of the two"
    );
}

/// Runs `work` on a stack of 512 KiB.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_refused_on_a_small_stack() {
    let mixed = format!(
        "a = {}{{{}a = 1}}{}",
        "[".repeat(70),
        "a.".repeat(70),
        "]".repeat(70)
    );
    let nested: [(Format, String); 7] = [
        (Format::Toml, "[".repeat(100_000)),
        (Format::Toml, format!("a = {}", "[".repeat(100_000))),
        (Format::Toml, format!("a = {}", "{a = ".repeat(100_000))),
        (Format::Toml, format!("{}a = 1", "a.".repeat(100_000))),
        (Format::Toml, mixed),
        (Format::Json, "[".repeat(100_000)),
        (
            Format::Json,
            format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000)),
        ),
    ];
    for (format, text) in nested {
        on_a_small_stack(move || {
            assert!(parse(&text, format, "deep", &[]).is_err());
            let setting = [("cell.slot".to_owned(), text)];
            assert!(parse(SMALL, Format::Toml, "small", &setting).is_err());
        });
    }
}
