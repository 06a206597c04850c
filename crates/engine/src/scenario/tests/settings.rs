//! Tests of overrides (`--set PATH=VALUE`).

use super::super::{Flow, Transport};
use super::examples::HOTSPOT;
use super::{SMALL, complaints, toml};

fn message_of(settings: &[(&str, &str)]) -> String {
    complaints(toml(SMALL, settings))
}

/// Returns the flows of `text` with the overrides `settings`, and the receive window of each flow.
fn flows(text: &str, settings: &[(&str, &str)]) -> Vec<(Flow, u32)> {
    let scenario = toml(text, settings).unwrap();
    let windows = scenario.flows.into_iter().map(|flow| match flow.transport {
        Transport::Tcp(ref tcp) => {
            let window = tcp.window_packets;
            (flow, window)
        }
        Transport::Udp(_) | Transport::Web(_) | Transport::Ping(_) => (flow, 0),
    });
    windows.collect()
}

#[test]
fn a_setting_is_read_as_toml_or_else_as_text() {
    let scenario = toml(
        SMALL,
        &[
            ("duration", "20 s"),
            ("warmup", "\"3 s\""),
            ("cell.ap.cwmin", "15"),
            ("cell.phy", "802.11g"),
            ("tcp", "{ window = 4 }"),
            ("name", "802"),
        ],
    )
    .unwrap();
    assert_eq!(scenario.duration.seconds(), 20.0);
    assert_eq!(scenario.warmup.seconds(), 3.0);
    assert_eq!(scenario.bss[0].cell.ap.best_effort.cwmin, 15);
    assert_eq!(scenario.stations[0].rate_bps, 54_000_000);
    assert_eq!(scenario.name, "802");
}

#[test]
fn the_last_of_equal_settings_holds() {
    let settings = [("station.a.upload", "2"), ("station.a.upload", "3")];
    assert_eq!(flows(SMALL, &settings).len(), 3);
}

#[test]
fn a_setting_inside_a_shorthand_keeps_what_it_stands_for() {
    let flows = flows(HOTSPOT, &[("station.uploader.upload.window", "4")]);
    let windows: Vec<u32> = flows.iter().map(|(_, window)| *window).collect();
    assert_eq!(windows, [4, 4, 4, 4, 4, 4, 42, 42, 42, 42]);
}

#[test]
fn a_bare_value_over_a_table_changes_what_it_stands_for() {
    let settings = [
        ("station.uploader.upload.window", "4"),
        ("station.uploader.upload", "2"),
    ];
    let windows: Vec<u32> = flows(HOTSPOT, &settings).iter().map(|f| f.1).collect();
    assert_eq!(windows, [4, 4, 42, 42, 42, 42]);
}

#[test]
fn a_rate_can_be_set_over_a_datagram_source() {
    let text = format!("{SMALL}udp_up = {{ rate = \"1 Mbps\", arrivals = \"poisson\" }}");
    let scenario = toml(&text, &[("station.a.udp_up", "2 Mbps")]).unwrap();
    let Transport::Udp(udp) = scenario.flows[1].transport else {
        panic!("the second flow is the UDP source");
    };
    assert_eq!(udp.rate_bps, 2_000_000);
    assert_eq!(udp.arrivals, super::super::Arrivals::Poisson);
}

#[test]
fn problems_name_the_setting_as_their_source() {
    assert_eq!(
        message_of(&[("tcp.window", "0")]),
        "--set tcp.window=0: `tcp.window`: 0 is too small; \
         expected a whole number from 1 to 65535"
    );
    assert_eq!(
        message_of(&[("cell.ap.cwmni", "5")]),
        "--set cell.ap.cwmni=5: `cell.ap.cwmni`: unknown key; expected one of rate, queue, \
         queue_order, control_rate, aifsn, cwmin, cwmax, txop_packets, txop_limit, attempts_short, \
         attempts_long, voice, video, background, aggregation\n\
         hint: did you mean `cwmin`?"
    );
    assert_eq!(
        message_of(&[("stagger", "3 s"), ("station.a.upload", "5")]),
        "--set stagger=3 s: `stagger`: flow `a/up/5` would start at 12 s; \
         expected before its end at 10 s"
    );
}

#[test]
fn a_path_through_a_bare_value_is_refused() {
    assert_eq!(
        message_of(&[("duration.x", "5")]),
        "--set duration.x=5: `duration.x`: `duration` is a single value, not a table; \
         expected `duration=VALUE`"
    );
    assert_eq!(
        message_of(&[("cell", "5")]),
        "--set cell=5: `cell`: 5 is not a table; \
         expected a table with at least the key phy"
    );
    for path in ["", ".", "cell.", "cell..slot"] {
        assert!(message_of(&[(path, "1")]).contains("not a path"), "{path}");
    }
}

#[test]
fn a_station_that_is_not_in_the_file_is_refused_with_the_nearest_name() {
    assert_eq!(
        complaints(toml(HOTSPOT, &[("station.other.download", "2")])),
        "--set station.other.download=2: `station.other`: no such station; \
         expected one of uploader, others\n\
         hint: did you mean `others`?"
    );
    assert_eq!(
        complaints(toml(HOTSPOT, &[("station.others-2.rate", "2 Mbps")])),
        "--set station.others-2.rate=2 Mbps: `station.others-2`: is a member of the group \
         `others` (count 4), whose members are alike; expected one of uploader, others\n\
         hint: station.others.rate sets all members of the group; to set only one station, give it a table of its own"
    );
    let fifth = complaints(toml(HOTSPOT, &[("station.others-5.rate", "2 Mbps")]));
    assert!(fifth.contains("no such station"), "{fifth}");
    let table = [("station.b", "{ download = 2 }")];
    assert_eq!(flows(SMALL, &table).len(), 3);
}

#[test]
fn a_value_of_many_lines_stays_on_one() {
    let message = message_of(&[("tcp.congestion", "a\nb\u{2028}c")]);
    assert_eq!(message.lines().count(), 1);
    assert!(message.starts_with("--set tcp.congestion=a\\nb\\u{2028}c: "));
}

#[test]
fn a_typo_inside_a_table_is_one_problem() {
    for path in ["cell.ap_queue.vbs.clas.a.share", "cell.ap.queue.vbs.clas"] {
        let message = message_of(&[(path, "0.5")]);
        assert!(
            message.contains("`: unknown key; expected one of occupancy"),
            "{message}"
        );
        assert!(
            message.ends_with("\nhint: did you mean `class`?"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 2, "{message}");
    }
    let table = message_of(&[("cell.ap_queue.vbs", "{ clas = { a = { share = 0.5 } } }")]);
    assert_eq!(table.lines().count(), 2, "{table}");
    assert_eq!(
        message_of(&[("link.a.rate", "9 Mbps")]),
        "--set link.a.rate=9 Mbps: `link.a`: no such link; the file has no such table; to add one, set the whole table\n\
         hint: `link.a={ ... }`"
    );
}
