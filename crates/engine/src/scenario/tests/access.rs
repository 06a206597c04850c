//! Tests of access categories, TXOPs and PIFS access in scenario files.

use super::super::*;
use super::{SMALL, complaints, message_of, toml};
use crate::kernel::time::Span;

/// Returns the node of station `a` of [`SMALL`] with `line` added to its table, and the node of the
/// access point.
fn nodes(line: &str, settings: &[(&str, &str)]) -> (Node, Node) {
    let scenario = toml(&format!("{SMALL}{line}"), settings);
    let Ok(scenario) = scenario else {
        panic!("{}", complaints(scenario));
    };
    (
        scenario.stations[0].node.clone(),
        scenario.bss[0].cell.ap.clone(),
    )
}

#[test]
fn categories_start_from_the_table_of_the_standard() {
    let (station, ap) = nodes("", &[]);
    assert_eq!(station.best_effort, Access::contention(2, 31, 1023));
    assert_eq!(station.background, Access::contention(7, 31, 1023));
    assert_eq!(station.video, Access::contention(2, 15, 31));
    assert_eq!(station.voice, Access::contention(2, 7, 15));
    assert_eq!(ap.voice, station.voice);
}

#[test]
fn categories_follow_the_node_s_own_best_effort() {
    let settings = [("cell.ap.cwmin", "0"), ("station.a.cwmin", "29")];
    let (station, ap) = nodes("", &settings);
    // with CWmin = 29, best effort has a window of 30 slots; voice has 30 / 4 slots, rounded down
    // to 7, and video has 30 / 2 = 15 slots; CWmin is the number of slots minus 1
    assert_eq!(station.voice, Access::contention(2, 6, 14));
    assert_eq!(station.video, Access::contention(2, 14, 29));
    assert_eq!(ap.voice, Access::contention(2, 0, 0));
    assert_eq!(ap.video, Access::contention(2, 0, 0));
}

#[test]
fn a_category_s_keys_are_looked_up_in_the_node_and_then_in_the_cell() {
    let settings = [
        ("cell.voice.cwmin", "3"),
        ("cell.voice.txop_packets", "2"),
        ("cell.ap.voice.aifsn", "1"),
        ("station.a.voice.cwmin", "5"),
    ];
    let (station, ap) = nodes("", &settings);
    let two = |access: Access| Access {
        txop_packets: Some(2),
        ..access
    };
    assert_eq!(station.voice, two(Access::contention(2, 5, 15)));
    assert_eq!(ap.voice, two(Access::contention(1, 3, 15)));
}

#[test]
fn a_limit_in_time_alone_leaves_the_number_of_packets_open() {
    let limits = |settings: &[(&str, &str)]| {
        let (station, ap) = nodes("", settings);
        let of = |access: Access| (access.txop_packets, access.txop_limit);
        [of(station.best_effort), of(ap.best_effort)]
    };
    let (time, none) = (Some(Span(3_000_000)), None);
    assert_eq!(limits(&[]), [(Some(1), none), (Some(1), none)]);
    let cell = ("cell.txop_limit", "3 ms");
    assert_eq!(limits(&[cell]), [(None, time), (None, time)]);
    let both = [cell, ("cell.ap.txop_packets", "3")];
    assert_eq!(limits(&both), [(None, time), (Some(3), time)]);
    let lifted = [cell, ("station.a.txop_limit", "none")];
    assert_eq!(limits(&lifted), [(Some(1), none), (None, time)]);
}

#[test]
fn flows_name_their_category() {
    let text = format!("{SMALL}download = {{ category = \"voice\" }}");
    let scenario = toml(&text, &[]).unwrap();
    let categories: Vec<Category> = scenario.flows.iter().map(|flow| flow.category).collect();
    assert_eq!(categories, [Category::BestEffort, Category::Voice]);
    for category in Category::ALL {
        let text = format!(
            "{SMALL}udp_up = {{ rate = \"1 Mbps\", category = \"{}\" }}",
            category.name()
        );
        assert_eq!(toml(&text, &[]).unwrap().flows[1].category, category);
    }
    assert_eq!(
        message_of("udp_up = { rate = \"1 Mbps\", category = \"vocie\" }"),
        "x.toml:5: `station.a.udp_up.category`: \"vocie\" is unknown; expected one of \
         \"best-effort\", \"background\", \"video\", \"voice\"\nhint: did you mean \"voice\"?"
    );
}

#[test]
fn pifs_is_for_the_access_point() {
    let (_, ap) = nodes("", &[("cell.ap.aifsn", "1"), ("cell.ap.voice.aifsn", "1")]);
    assert_eq!((ap.best_effort.aifsn, ap.voice.aifsn), (1, 1));
    let range = "expected a whole number from 2 to 15, and 1, which is PIFS, for the access point \
                 only";
    let allowed =
        format!("1 is too small for a station; {range}\nhint: `cell.ap` has an `aifsn` of its own");
    assert_eq!(
        message_of("aifsn = 1"),
        format!("x.toml:5: `station.a.aifsn`: {allowed}")
    );
    assert_eq!(
        message_of("video.aifsn = 1"),
        format!("x.toml:5: `station.a.video.aifsn`: {allowed}")
    );
    assert_eq!(
        message_of("aifsn = 0"),
        format!("x.toml:5: `station.a.aifsn`: 0 is too small; {range}")
    );
    // the problem is reported once, although its key applies to several stations
    let text = SMALL.replace("802.11b\"", "802.11b\", aifsn = 1") + "[station.b]\nupload = 1\n";
    assert_eq!(
        complaints(toml(&text, &[])),
        format!("x.toml:2: `cell.aifsn`: {allowed}")
    );
    assert_eq!(
        complaints(toml(
            &text,
            &[("station.a.aifsn", "2"), ("station.b.aifsn", "3")]
        )),
        ""
    );
}

#[test]
fn windows_of_each_category_are_in_order() {
    assert_eq!(
        message_of("voice.cwmin = 31"),
        "x.toml:5: `station.a.voice.cwmin`: 31 is above cwmax; \
         expected a whole number from 0 to 15"
    );
    assert_eq!(
        message_of("video = { cwmax = 7 }"),
        "x.toml:5: `station.a.video.cwmax`: 7 is below cwmin; \
         expected a whole number from 15 to 32767"
    );
    // `cwmax = 10` is valid for the voice category of the cell; with `cwmin = 63` of the station,
    // the CWmin of its voice category is 15, which is larger than 10
    let text = SMALL.replace("802.11b\"", "802.11b\", voice.cwmax = 10");
    assert_eq!(complaints(toml(&text, &[])), "");
    assert_eq!(
        complaints(toml(&text, &[("station.a.cwmin", "63")])),
        "x.toml:2: `cell.voice.cwmax`: 10 is below cwmin in `station.a`; \
         expected a whole number from 15 to 32767"
    );
}

#[test]
fn a_transmission_opportunity_holds_any_frame_of_its_flows() {
    // 1309.091 us for 1536 bytes at 11 Mb/s, SIFS of 10 us, and 248 us for a MAC ACK at 2 Mb/s
    assert_eq!(
        message_of("txop_limit = \"1.5 ms\""),
        "x.toml:5: `station.a.txop_limit`: \"1.5 ms\" is shorter than the exchange of one frame of \
         flow `a/up/1`; expected \"none\" or at least 1567.091 us"
    );
    let (station, _) = nodes("txop_limit = \"1567091 ns\"", &[]);
    assert_eq!(station.best_effort.txop_limit, Some(Span(1_567_091)));
    // the access point sends only TCP ACKs here, and none of them in category voice
    nodes(
        "",
        &[
            ("cell.ap.txop_limit", "600 us"),
            ("cell.ap.voice.txop_limit", "1 us"),
        ],
    );
    assert_eq!(
        complaints(toml(SMALL, &[("cell.txop_limit", "500 us")])),
        "--set cell.txop_limit=500 us: `cell.txop_limit`: \"500 us\" is shorter than the exchange of \
         one frame of flow `a/up/1`; expected \"none\" or at least 1567.091 us"
    );
    // with RTS/CTS, the exchange also has an RTS of 272 us, a CTS of 248 us and two SIFS
    let protected = [
        ("cell.rts_threshold", "1000 B"),
        ("cell.txop_limit", "2 ms"),
    ];
    assert_eq!(
        complaints(toml(SMALL, &protected)),
        "--set cell.txop_limit=2 ms: `cell.txop_limit`: \"2 ms\" is shorter than the exchange of \
         one frame of flow `a/up/1`; expected \"none\" or at least 2107.091 us"
    );
}

#[test]
fn normalised_nodes_list_their_categories() {
    let settings = [
        ("cell.ap.queue_order", "mixed"),
        ("cell.video.txop_limit", "6 ms"),
        ("tcp.ack_processing", "2 ms"),
        ("cell.countdown", "edca"),
        ("cell.cf_end", "true"),
    ];
    let json = toml(SMALL, &settings).unwrap().to_json();
    assert_eq!(json["cell"]["countdown"], "edca");
    assert_eq!(json["cell"]["cf_end"], true);
    assert_eq!(json["cell"]["ap"]["queue_order"], "mixed");
    let station = &json["stations"][0];
    assert_eq!(station["txop_packets"], 1);
    assert_eq!(station["txop_limit_s"], serde_json::Value::Null);
    assert_eq!(
        station["video"],
        serde_json::json!({
            "aifsn": 2, "cwmin": 15, "cwmax": 31, "txop_packets": null, "txop_limit_s": 0.006,
        })
    );
    assert_eq!(station["voice"]["cwmin"], 7);
    assert_eq!(station["background"]["aifsn"], 7);
    assert_eq!(json["flows"][0]["category"], "best-effort");
    assert_eq!(json["flows"][0]["tcp"]["ack_processing_s"], 0.002);
}
