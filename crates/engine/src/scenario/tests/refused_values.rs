//! Tests of error messages, with one example per kind of invalid value. A message contains the line
//! or override, the key, the value and the accepted values.

use super::examples::CSMA;
use super::{SMALL, complaints, message_of, toml};
use crate::kernel::time::Span;
use crate::mac::PowerSave;

/// Asserts the message about each line that is appended to the table of station `a`. The expected
/// messages omit the file, the line and the path of the table.
pub(super) fn assert_said(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        let message = message_of(line);
        let after_place = message.strip_prefix("x.toml:5: `station.a.");
        assert_eq!(after_place.unwrap_or(&message), *expected, "{line}");
    }
}

#[test]
fn unknown_keys_list_the_known_ones() {
    assert_eq!(
        message_of("[tcp]\nwindwo = 5"),
        "x.toml:6: `tcp.windwo`: unknown key; expected one of congestion, compound, cubic_linux, dctcp, prague, bbr, bbr3, hystart, \
         byte_counting, pacing, tso, ecn, abe, sack, rack, prr, undo, handshake, window, initial_window, delayed_ack, ack_delay, ack_processing, mss, header, min_rto, \
         initial_rto, rto_halves_again, after_idle\n\
         hint: did you mean `window`?"
    );
}

#[test]
fn a_file_of_a_newer_format_is_refused() {
    assert_eq!(complaints(toml(SMALL, &[("format", "1")])), "");
    assert_eq!(
        complaints(toml(SMALL, &[("format", "2")])),
        "--set format=2: `format`: 2 is a newer format than this version of lasthop supports; expected 1; update lasthop"
    );
    let newer = format!("format = 3\nnew = 3\n{SMALL}");
    assert_eq!(
        complaints(toml(&newer, &[])),
        "x.toml:1: `format`: 3 is a newer format than this version of lasthop supports; expected 1; update lasthop"
    );
    for value in ["0", "-1", "1.5", "\"1\"", "true"] {
        let message = complaints(toml(SMALL, &[("format", value)]));
        assert!(message.ends_with("; expected 1"), "{message}");
    }
}

#[test]
fn a_word_for_traffic_leads_to_keys_of_flows() {
    let call = message_of("video_call = 1");
    assert!(call.starts_with("x.toml:5: `station.a.video_call`: is no key of a station"));
    assert!(call.contains("hint: write a call as `call = 1`, or without video as `call ="));
    assert!(!call.contains("did you mean"));
}

#[test]
fn a_colliders_wait_needs_a_time_of_its_own() {
    let message = complaints(toml(SMALL, &[("cell.collider_wait", "eifs")]));
    assert_eq!(
        message.split_once("`cell.collider_wait`").unwrap().1,
        ": \"eifs\" is without effect where all nodes wait for EIFS; expected \"aifs\", or an ack_timeout"
    );
}

#[test]
fn rates_are_those_of_the_phy() {
    assert_said(&[
        (
            "rate = 0",
            "rate`: 0 is not a positive rate; expected one of 1, 2, 5.5, 11 Mbps",
        ),
        (
            r#"rate = "0 Mbps""#,
            r#"rate`: "0 Mbps" is not a positive rate; expected one of 1, 2, 5.5, 11 Mbps"#,
        ),
        (
            r#"rate = "54 Mbps""#,
            r#"rate`: "54 Mbps" is no rate of 802.11b; expected one of 1, 2, 5.5, 11 Mbps"#,
        ),
        (
            r#"control_rate = "-1 Mbps""#,
            r#"control_rate`: "-1 Mbps" is negative; expected one of 1, 2, 5.5, 11 Mbps"#,
        ),
        (
            "rate = 11",
            r#"rate`: 11 has no unit, write "11 Mbps" or "11 kbps"; expected one of 1, 2, 5.5, 11 Mbps"#,
        ),
        (
            r#"rate = "11 Mbit/s""#,
            "rate`: \"11 Mbit/s\" has none of the units bps, kbps, Mbps, Gbps; \
             expected one of 1, 2, 5.5, 11 Mbps\nhint: did you mean \"11 Mbps\"?",
        ),
    ]);
    let g = SMALL.replace("802.11b", "802.11g") + "control_rate = \"54 Mbps\"";
    assert_eq!(
        complaints(toml(&g, &[])),
        "x.toml:5: `station.a.control_rate`: \"54 Mbps\" is no control rate of 802.11g; \
         expected one of 6, 12, 24 Mbps"
    );
}

#[test]
fn durations_need_a_unit_and_a_sane_size() {
    let range = "expected a duration from 1 us to 60 s";
    let cases = [
        ("5", r#"5 has no unit, write "5 s" or "5 ms""#),
        (r#""5""#, r#""5" has no unit, write "5 s" or "5 ms""#),
        (
            r#""5 jiffies""#,
            r#""5 jiffies" has none of the units ns, us, µs, μs, ms, s, min, h"#,
        ),
        (r#""-5 ms""#, r#""-5 ms" is negative"#),
        (r#""0 ms""#, r#""0 ms" is too small"#),
        (r#""1e30 s""#, r#""1e30 s" is too large"#),
        (r#""nan s""#, r#""nan s" is not finite"#),
        (r#""inf""#, r#""inf" is not finite"#),
        (r#""soon""#, r#""soon" is not a duration"#),
        ("true", "true is not a duration"),
        ("[1, 2]", "a list is not a duration"),
        ("2026-01-01", "2026-01-01 is not a duration"),
    ];
    for (value, fault) in cases {
        assert_eq!(
            message_of(&format!("tcp.min_rto = {value}")),
            format!("x.toml:5: `station.a.tcp.min_rto`: {fault}; {range}")
        );
    }
    let spelled = message_of("tcp.min_rto = \"5 sec\"");
    assert!(
        spelled.ends_with("\nhint: did you mean \"5 s\"?"),
        "{spelled}"
    );
}

#[test]
fn a_rate_in_the_thousands_is_taken_for_bits_a_second() {
    let message = message_of("udp_up = 64000");
    assert!(
        message.contains("64000 has no unit, write \"64000 bps\" or \"64000 kbps\";"),
        "{message}"
    );
}

#[test]
fn a_long_number_is_cut_in_message_and_hint() {
    let nines = "9".repeat(100_000);
    for value in [
        nines.clone(),
        format!("\"{nines}\""),
        format!("\"{nines} sec\""),
    ] {
        let message = message_of(&format!("tcp.min_rto = {value}"));
        assert!(message.len() < 400, "{} characters", message.len());
    }
}

#[test]
fn counts_are_whole_and_bounded() {
    assert_said(&[
        (
            "tcp.window = 0",
            "tcp.window`: 0 is too small; expected a whole number from 1 to 65535",
        ),
        (
            "count = 1_000_000_000",
            "count`: 1000000000 is too large; expected a whole number from 1 to 10000",
        ),
        (
            "count = 99999999999999999999999999999999999999999999999999",
            "count`: 9999999999999999999999999999999999999999... is too large; \
             expected a whole number from 1 to 10000",
        ),
        (
            "count = -3",
            "count`: -3 is negative; expected a whole number from 1 to 10000",
        ),
        (
            "count = 1.5",
            "count`: 1.5 is not a whole number; expected a whole number from 1 to 10000",
        ),
        (
            "count = nan",
            "count`: nan is not a number; expected a whole number from 1 to 10000",
        ),
        (
            r#"download = "six""#,
            "download`: \"six\" is not a number; expected a whole number from 0 to 100000",
        ),
    ]);
}

#[test]
fn probabilities_stay_below_one() {
    for (value, fault) in [
        ("1.0", "is not below 1"),
        ("-0.1", "is negative"),
        ("nan", "is not a number"),
        ("inf", "is not finite"),
        ("\"5 %\"", "is not a number"),
    ] {
        assert_eq!(
            message_of(&format!("error_up = {value}")),
            format!(
                "x.toml:5: `station.a.error_up`: {value} {fault}; \
                 expected a number from 0 to below 1"
            )
        );
    }
}

#[test]
fn words_and_flags_are_listed() {
    assert_said(&[
        (
            r#"tcp.congestion = "renno""#,
            "tcp.congestion`: \"renno\" is unknown; expected one of \"tahoe\", \"reno\", \"newreno\", \
             \"compound\", \"cubic\", \"cubic_linux\", \"illinois\", \"africa\", \"westwood\", \
             \"dctcp\", \"prague\", \"bbr\", \"bbr3\"\n\
             hint: did you mean \"reno\"?",
        ),
        (
            r#"tcp.congestion = "bbr2""#,
            "tcp.congestion`: \"bbr2\" is unknown; expected one of \"tahoe\", \"reno\", \"newreno\", \
             \"compound\", \"cubic\", \"cubic_linux\", \"illinois\", \"africa\", \"westwood\", \
             \"dctcp\", \"prague\", \"bbr\", \"bbr3\"\n\
             hint: use \"bbr\" for version 1 of BBR, and \"bbr3\" for version 3",
        ),
        (
            r#"tcp = { congestion = "bbr", rack = false }"#,
            "tcp.rack`: false contradicts the congestion control \"bbr\", which requires SACK, \
             RACK-TLP and pacing; expected true",
        ),
        (
            r#"tcp = { congestion = "bbr3", hystart = true }"#,
            "tcp.hystart`: true adds HyStart++ to the congestion control \"bbr3\", which has no slow \
             start; expected false",
        ),
        (
            r#"tcp = { congestion = "bbr3", sack = false }"#,
            "tcp.sack`: false contradicts the congestion control \"bbr3\", which requires SACK, \
             RACK-TLP and pacing; expected true",
        ),
        (
            r#"tcp = { congestion = "bbr", hystart = true }"#,
            "tcp.hystart`: true adds HyStart++ to the congestion control \"bbr\", which has no slow \
             start; expected false",
        ),
        (
            "tcp.tso = true",
            "tcp.tso`: true requires pacing, which connections of `station.a.upload` do not have; \
             expected false, or pacing = true",
        ),
        (
            "tcp.abe = true",
            "tcp.abe`: true requires ECN marks, which connections of `station.a.upload` do not have; \
             expected false, or ecn = true",
        ),
        (
            r#"tcp = { congestion = "westwood", ecn = true, abe = true }"#,
            "tcp.abe`: true requires a congestion control for which RFC 8511 has a factor; expected \
             false, or congestion = \"reno\", \"newreno\", \"cubic\" or \"cubic_linux\"",
        ),
        (
            "tcp.bbr3.suspension = true",
            "tcp.bbr3`: has no effect; expected congestion = \"bbr3\"",
        ),
        (
            "tcp.bbr.hz = 250",
            "tcp.bbr`: has no effect; expected congestion = \"bbr\"",
        ),
        (
            "tcp = { congestion = \"prague\", ecn = false }",
            "tcp.ecn`: false contradicts the congestion control \"prague\", which reacts to marks; \
             expected true",
        ),
        (
            r#"tcp.delayed_ack = "yes""#,
            "tcp.delayed_ack`: \"yes\" is not a truth value; expected true or false",
        ),
        (
            r#"udp_up = "greed""#,
            "udp_up`: \"greed\" is not a rate; \
             expected \"greedy\" or a rate above 0 and up to 100 Gbps\n\
             hint: did you mean \"greedy\"?",
        ),
    ]);
}

#[test]
fn windows_of_a_node_are_in_order() {
    assert_said(&[
        (
            "cwmin = 2000",
            "cwmin`: 2000 is above cwmax; expected a whole number from 0 to 1023",
        ),
        (
            "cwmax = 3",
            "cwmax`: 3 is below cwmin; expected a whole number from 31 to 32767",
        ),
    ]);
}

#[test]
fn packets_fit_one_frame() {
    assert_said(&[
        (
            r#"tcp.mss = "2300 B""#,
            "tcp.mss`: \"2300 B\" with headers of 40 B and 8 B is more than an 802.11 frame \
             carries (2304 B) in `station.a.upload`; expected at most 2256 B",
        ),
        (
            r#"udp_up = { rate = "1 Gbps", packet = "1 B" }"#,
            "udp_up.rate`: \"1 Gbps\" in datagrams of 1 B is 125000000 datagrams per second; \
             expected at most 1000000",
        ),
    ]);
}

#[test]
fn flows_start_before_they_stop_and_before_the_end() {
    assert_said(&[
        (
            r#"download = { start = "20 s" }"#,
            "download.start`: flow `a/down/1` would start at 20 s; \
             expected before its end at 10 s",
        ),
        (
            r#"download = { start = "5 s", stop = "5 s" }"#,
            "download.stop`: \"5 s\" is not after the start; expected more than 5 s",
        ),
    ]);
}

#[test]
fn a_datagram_source_has_a_rate_or_is_greedy() {
    assert_said(&[
        (
            "udp_up = {}",
            "udp_up.rate`: missing; expected a rate such as \"2 Mbps\", or \"greedy\"",
        ),
        (
            r#"udp_up = { rate = "greedy", arrivals = "poisson" }"#,
            "udp_up.arrivals`: \"poisson\" contradicts the rate of \"greedy\"; expected \
             \"greedy\" for a greedy source, \"constant\" or \"poisson\" for one with a rate",
        ),
    ]);
}

#[test]
fn all_problems_are_found_at_once_in_order_of_the_file() {
    let text = "duration = 5\ncell = { phy = \"802.11x\", slot = \"0 us\" }\n\
                [station.a]\nupload = -1\n[wire]\nloss = 2\n";
    let message = complaints(toml(text, &[("seed", "x")]));
    let places: Vec<&str> = message
        .lines()
        .filter_map(|line| line.split("`: ").next()?.split_once(": `"))
        .map(|(_, path)| path)
        .collect();
    assert_eq!(
        places,
        [
            "duration",
            "cell.phy",
            "cell.slot",
            "station.a.upload",
            "wire.loss",
            "seed"
        ]
    );
}

#[test]
fn a_link_has_one_rule_of_loss() {
    let message = |loss: &str| complaints(toml(SMALL, &[("wire.loss", loss)]));
    for (loss, expected) in [
        (
            "{ probability = 0.01, every = 100 }",
            "`wire.loss.every`: a second rule in addition to probability; expected one of probability, every",
        ),
        (
            "{}",
            "`wire.loss`: the table is empty; expected one of probability, every",
        ),
        (
            "{ every = 1 }",
            "`wire.loss.every`: 1 is too small; expected a whole number from 2 to 1000000000",
        ),
        (
            "1.5",
            "`wire.loss`: 1.5 is not below 1; expected a number from 0 to below 1",
        ),
    ] {
        assert!(
            message(loss).contains(expected),
            "{loss}: {}",
            message(loss)
        );
    }
}

#[test]
fn recovery_options_go_with_what_they_need() {
    assert_said(&[
        (
            "tcp.prr = true",
            "tcp.prr`: true requires selective acknowledgements; expected false, or sack = true",
        ),
        (
            "tcp = { sack = true, undo = true }",
            "tcp.undo`: true requires RACK; expected false, or rack = true",
        ),
        (
            "tcp = { hystart = true, congestion = \"cubic_linux\" }",
            "tcp.hystart`: true adds HyStart++ to the congestion control \"cubic_linux\", which has HyStart; \
             expected false",
        ),
        (
            "tcp.rack = true",
            "tcp.rack`: true requires selective acknowledgements; expected false, or sack = true",
        ),
        (
            "tcp = { sack = true, congestion = \"tahoe\" }",
            "tcp.sack`: true contradicts the congestion control \"tahoe\", which sends everything \
             again after a loss; expected false",
        ),
    ]);
    // the value is reported once, although several flows share it
    let shared = "download = 2\n[tcp]\nprr = true";
    assert_eq!(
        message_of(shared),
        "x.toml:7: `tcp.prr`: true requires selective acknowledgements; expected false, or sack = \
         true"
    );
    let both =
        SMALL.to_owned() + "[tcp]\nsack = true\nrack = true\nprr = true\ncongestion = \"cubic\"";
    assert!(toml(&both, &[]).is_ok());
}

#[test]
fn reports_have_a_time_between_them_and_fit_a_frame() {
    let message = |table: &str| {
        let message = complaints(toml(SMALL, &[("station.a.sensor_up", table)]));
        let (_, reason) = message.split_once(": ").unwrap_or_default();
        reason.to_owned()
    };
    assert_eq!(
        message("{ size = \"50 B\" }"),
        "`station.a.sensor_up.every`: missing; expected a duration such as \"10 s\""
    );
    assert!(message("{ every = \"1 s\", size = \"2304 B\" }").contains("expected at most 2268 B"));
    assert!(
        message("{ every = \"1 s\", deadline = \"1 h\" }")
            .starts_with("`station.a.sensor_up.deadline`: \"1 h\" leaves no report to measure")
    );
}

#[test]
fn a_signal_to_noise_ratio_stands_alone_and_has_its_unit() {
    let message = |settings: &[(&str, &str)]| {
        let message = complaints(toml(SMALL, settings));
        let (_, reason) = message.split_once(": ").unwrap_or_default();
        reason.to_owned()
    };
    let snr = |value: &str| message(&[("station.a.snr", value)]);
    assert_eq!(
        snr("15"),
        "`station.a.snr`: 15 has no unit, write \"15 dB\"; expected a level from -20 to 60 dB"
    );
    assert!(snr("\"99 dB\"").contains("is too large"));
    assert!(snr("\"loud\"").contains("is not a level"));
    assert_eq!(
        message(&[("station.a.snr", "15 dB"), ("station.a.error_up", "0.1")]),
        "`station.a.error_up`: 0.1 conflicts with `snr` = \"15 dB\"; expected one of the two"
    );
}

/// Returns the message about [`SMALL`] with these overrides. The override or line at the beginning
/// of the message is removed.
pub(super) fn message_of_settings(settings: &[(&str, &str)]) -> String {
    let message = complaints(toml(SMALL, settings));
    let (_, reason) = message.split_once(": ").unwrap_or_default();
    reason.to_owned()
}

#[test]
fn settings_of_power_save_need_a_station_that_sleeps() {
    let message = message_of_settings;
    let sleeps = ("station.a.power_save", "0 s");
    assert_eq!(
        message(&[("cell.beacon_interval", "102.4 ms")]),
        "`cell.beacon_interval`: this key is only for stations that sleep, and no \
         station sleeps; accepted with `power_save` of a station"
    );
    assert!(
        message(&[("cell.power_save_queue", "64")])
            .starts_with("`cell.power_save_queue`: this key is only for")
    );
    let settings = [
        sleeps,
        ("cell.beacon_interval", "0.2048 s"),
        ("cell.power_save_queue", "9"),
    ];
    let scenario = toml(SMALL, &settings).unwrap();
    assert_eq!(scenario.stations[0].power_save, Some(Span::ZERO));
    assert_eq!(
        scenario.bss[0].cell.power_save,
        PowerSave {
            beacon_interval: Span(204_800_000),
            power_save_queue_packets: 9,
        }
    );
    let awake = toml(SMALL, &[("station.a.power_save", "off")]).unwrap();
    assert_eq!(
        (awake.stations[0].power_save, awake.sleeps()),
        (None, false)
    );
    assert!(
        message(&[("station.a.power_save", "true")]).contains("expected \"off\" or a duration")
    );
}

#[test]
fn a_greedy_source_does_not_let_its_station_sleep() {
    let greedy = |way| {
        let settings = [("station.a.power_save", "0 s"), (way, "greedy")];
        message_of_settings(&settings)
    };
    assert_eq!(
        greedy("station.a.udp_down"),
        "`station.a.udp_down`: with a greedy source there is always a packet for the station, \
         which would never sleep: expected a source with a rate, or `power_save` = \"off\""
    );
    assert_eq!(greedy("station.a.udp_up"), "");
}

#[test]
fn answers_to_pings_need_somebody_who_pings() {
    let message = message_of_settings;
    assert_eq!(
        message(&[("station.a.ping_delay", "0.3 s")]),
        "`station.a.ping_delay`: \"0.3 s\" has no effect, since no `vsb` pings the station; \
         accepted with a `vsb` that estimates its rate"
    );
    let change = (
        "station.a.pings",
        "{ late = { at = \"1 s\", ping_loss = 1 } }",
    );
    assert!(
        message(&[change, ("vsb.rate", "1 Mbps")])
            .contains("pings.late`: no `vsb` pings the station")
    );
    assert_eq!(
        message(&[change, ("vsb", "{}"), ("station.a.ping_delay", "0.3 s")]),
        ""
    );
}

#[test]
fn one_value_is_refused_once_and_a_unit_too_many_is_explained() {
    let of = |setting: &str| complaints(toml(CSMA, &[setting.split_once('=').unwrap()]));
    assert_eq!(
        of("csma.fairness=-1"),
        "--set csma.fairness=-1: `csma.fairness`: -1 makes a utility that is not strictly concave; \
         expected a number above 0"
    );
    assert_eq!(
        of("csma.service_rate=11 Mbps"),
        "--set csma.service_rate=11 Mbps: `csma.service_rate`: \"11 Mbps\" is not a number; expected \
         a number from 0.001 to 10000000\n\
         hint: `service_rate` is a bare number: number of packets per second that a link sends while it is \
         active"
    );
    assert!(!of("csma.service_rate=fast").contains("hint"));
}

#[test]
fn parameters_of_a_congestion_control_that_nobody_chose_are_refused() {
    let needed = |name| format!("has no effect; expected congestion = \"{name}\"");
    let dctcp = "tcp = { congestion = \"dctcp\", prague.transition = 9 }\n";
    assert_eq!(
        complaints(toml(&format!("{dctcp}{SMALL}"), &[])),
        format!("x.toml:1: `tcp.prague`: {}", needed("prague"))
    );
    let of_flow = "upload = { connections = 1, dctcp.l4s = true }";
    assert_eq!(
        complaints(toml(&SMALL.replace("upload = 1", of_flow), &[])),
        format!("x.toml:4: `station.a.upload.dctcp`: {}", needed("dctcp"))
    );
    for name in ["compound", "cubic_linux", "bbr", "bbr3"] {
        assert_eq!(
            complaints(toml(&format!("tcp.{name} = {{}}\n{SMALL}"), &[])),
            format!("x.toml:1: `tcp.{name}`: {}", needed(name))
        );
    }
    // one connection uses the congestion control, so its parameters have an effect
    let other = "download = { connections = 1, congestion = \"prague\" }\n";
    assert_eq!(complaints(toml(&format!("{dctcp}{SMALL}{other}"), &[])), "");
    let none = [("station.a.download.connections", "0")];
    assert_eq!(
        complaints(toml(&format!("{dctcp}{SMALL}{other}"), &none)),
        ""
    );
    // an override selects another congestion control, so the file's parameters are accepted
    let own = "tcp = { congestion = \"prague\", prague.transition = 9 }\n";
    let reno = ("tcp.congestion", "reno");
    assert_eq!(complaints(toml(&format!("{own}{SMALL}"), &[reno])), "");
    assert_eq!(
        complaints(toml(SMALL, &[reno, ("tcp.prague.transition", "3")])),
        format!(
            "--set tcp.prague.transition=3: `tcp.prague`: {}",
            needed("prague")
        )
    );
}
