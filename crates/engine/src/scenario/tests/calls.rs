//! Tests of calls at stations and between wired nodes.

use super::networks::{MS, names, refused};
use super::refused_values::assert_said;
use super::{message_of, toml};
use crate::kernel::time::Span;
use crate::scenario::*;

/// The bare number 0 means that the station has no such traffic, as with `download = 0`.
#[test]
fn zero_means_none() {
    let plain = toml(super::SMALL, &[]).unwrap().to_json();
    for key in [
        "call",
        "ping",
        "sensor_up",
        "sensor_down",
        "udp_up",
        "udp_down",
    ] {
        let text = format!("{}{key} = 0\n", super::SMALL);
        assert_eq!(toml(&text, &[]).unwrap().to_json(), plain, "{key}");
        let value = match key {
            "call" => "2",
            "udp_up" | "udp_down" => "\"1 Mbps\"",
            _ => "{ every = \"200 ms\" }",
        };
        let text = format!("{}{key} = {value}\n", super::SMALL);
        assert_ne!(toml(&text, &[]).unwrap().to_json(), plain, "{key}");
        let path = format!("station.a.{key}");
        assert_eq!(
            toml(&text, &[(&path, "0")]).unwrap().to_json(),
            plain,
            "{key}"
        );
    }
    assert!(
        toml(
            "duration = \"9 s\"\nflow.a = { from = \"a\", to = \"b\", ping = 0 }",
            &[]
        )
        .is_err()
    );
}

#[test]
fn a_call_is_a_number_of_calls_or_the_word_audio() {
    let wanted = "; expected \"audio\" or a whole number from 1 to 100";
    for value in ["-1", "1.5", "\"video\"", "10000", "true"] {
        let message = message_of(&format!("call = {value}"));
        assert!(
            message.starts_with("x.toml:5: `station.a.call`: "),
            "{message}"
        );
        assert!(
            message.lines().next().unwrap().ends_with(wanted),
            "{message}"
        );
    }
    assert!(message_of("call = \"video\"").contains("hint: a call has video unless"));
    assert_said(&[
        (
            "call = { calls = \"audio\", video = true }",
            "call.video`: true contradicts calls = \"audio\"; expected false, or a number of calls",
        ),
        (
            "call = { start = \"2 s\", stop = \"1 s\" }",
            "call.stop`: \"1 s\" is not after the start; expected more than 2 s",
        ),
        (
            "udp_up = { rate = \"greedy\", burst = 2 }",
            "udp_up.burst`: 2 contradicts a greedy source, which has no gaps; expected 1",
        ),
    ]);
}

#[test]
fn calls_of_a_station_are_flows_with_a_number_beside_its_others() {
    let text = "duration = \"1 s\"\ncell.phy = \"802.11ac\"\nudp.header = \"40 B\"\n\
                station.phone = { count = 2, udp_up = \"1 Mbps\", call = { calls = 2, category = \"voice\" } }";
    let scenario = toml(text, &[]).unwrap();
    let own: Vec<&Flow> = scenario.flows.iter().skip(9).collect();
    let names: Vec<&str> = own.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "phone-2/udp-up/1",
            "phone-2/audio-up/1",
            "phone-2/audio-down/1",
            "phone-2/video-up/1",
            "phone-2/video-down/1",
            "phone-2/audio-up/2",
            "phone-2/audio-down/2",
            "phone-2/video-up/2",
            "phone-2/video-down/2",
        ]
    );
    assert_eq!(own[0].call, None);
    let categories = [own[0].category, own[1].category, own[8].category];
    let (usual, voice) = (Category::BestEffort, Category::Voice);
    assert_eq!(categories, [usual, voice, voice]);
    let (up, down) = (Some(Direction::Up), Some(Direction::Down));
    assert_eq!((own[7].direction(), own[8].direction()), (up, down));
    let json = scenario.to_json();
    let video = &json["flows"][17];
    assert_eq!(
        video["call"],
        serde_json::json!({"number": 2, "medium": "video", "direction": "down"})
    );
    assert_eq!(
        video["udp"],
        serde_json::json!({
            "arrivals": "constant",
            "rate_bps": 1_200_000,
            "payload_bytes": 1_000,
            "header_bytes": 40,
            "burst_packets": 5,
        })
    );
    assert!(json["flows"][9].get("call").is_none());
    assert_eq!(scenario.to_json_text(), json.to_string());
}

#[test]
fn a_call_between_wired_nodes_goes_both_ways_with_hosts_of_its_own() {
    let text = "duration = \"1 s\"\n\
                link.line = { from = \"home\", to = \"net\", rate = \"20 Mbps\", back_rate = \"100 Mbps\" }\n\
                flow.phone = { from = \"home\", to = \"net\", rtt = \"40 ms\", call = \"audio\" }";
    let scenario = toml(text, &[]).unwrap();
    let [up, down] = &scenario.flows[..] else {
        panic!("an audio call has two flows")
    };
    assert_eq!(
        (up.name.as_str(), down.name.as_str()),
        ("phone/audio-up/1", "phone/audio-down/1")
    );
    assert_eq!((up.ends, up.class.as_str()), (Ends::Wired, "phone"));
    assert_eq!(
        names(&scenario, &up.forward),
        ["phone/audio-up/1/access", "line", "phone/audio-up/1/exit"]
    );
    assert_eq!(
        names(&scenario, &down.forward),
        [
            "phone/audio-down/1/access",
            "line/back",
            "phone/audio-down/1/exit"
        ]
    );
    let access = &scenario.links[down.forward[0] as usize];
    assert_eq!((access.to.as_str(), access.delay), ("net", Span(10 * MS)));
}

#[test]
fn a_call_between_wired_nodes_stands_alone() {
    let link = "link.line = { from = \"a\", to = \"b\", rate = \"9 Mbps\" }\n";
    let message = |keys: &str| {
        refused(&format!(
            "{link}flow.x = {{ from = \"a\", to = \"b\", call = 1, {keys} }}"
        ))
    };
    for (keys, wanted) in [
        (
            "udp = \"1 Mbps\"",
            "`flow.x.udp`: conflicts with `call`; expected one of the two",
        ),
        (
            "web = 5",
            "`flow.x.web`: conflicts with `call`; expected one of the two",
        ),
        (
            "window = 5",
            "`flow.x.window`: this key is only for TCP; expected a flow without call",
        ),
        (
            "segments = 5",
            "`flow.x.segments`: this key is only for TCP; expected a flow without call",
        ),
    ] {
        assert!(message(keys).contains(wanted), "{}", message(keys));
    }
    assert_eq!(message("count = 2"), "");
    let station = "cell.phy = \"802.11b\"\nstation.x = { count = 1, call = 1 }\n";
    let same = format!("{link}{station}flow.x-1 = {{ from = \"a\", to = \"b\", call = 1 }}");
    assert!(refused(&same).contains("`flow.x-1`: station `x-1` has calls of this name too"));
    let csma = "csma.link.one = {}\nflow.x = { route = [\"one\"], call = 1 }";
    assert!(refused(csma).contains("`flow.x.call`: a call sends in both directions"));
}

#[test]
fn an_adaptive_call_has_bounds_in_its_video_flows_only() {
    let text = "duration = \"1 s\"\ncell.phy = \"802.11ac\"\n\
                station.phone.call = { control = \"gcc\", max_rate = \"1 Mbps\" }";
    let json = toml(text, &[]).unwrap().to_json();
    assert!(json["flows"][0]["call"].get("control").is_none());
    let video = &json["flows"][2];
    assert_eq!(
        video["call"]["control"],
        serde_json::json!({
            "name": "gcc",
            "min_rate_bps": 30_000,
            "start_rate_bps": 300_000,
            "max_rate_bps": 1_000_000,
        })
    );
    assert_eq!(
        (&video["udp"]["rate_bps"], &video["udp"]["payload_bytes"]),
        (&1_000_000.into(), &1_200.into())
    );
    // an override of the control leaves the rates of the file without effect
    toml(text, &[("station.phone.call.control", "none")]).unwrap();
}

#[test]
fn wrong_rates_of_an_adaptive_call_are_refused() {
    assert_said(&[
        (
            "call = { calls = \"audio\", control = \"gcc\" }",
            "call.control`: \"gcc\" needs video, because the rate of audio is constant; expected \
             \"none\"",
        ),
        (
            "call = { min_rate = \"1 Mbps\" }",
            "call.min_rate`: \"1 Mbps\" has no effect; expected control = \"gcc\"",
        ),
        (
            "call = { control = \"gcc\", max_rate = \"1 kbps\" }",
            "call.max_rate`: \"1 kbps\" is out of range; expected 5 kbps to 100 Mbps",
        ),
        (
            "call = { control = \"gcc\", min_rate = \"3 Mbps\" }",
            "call.min_rate`: \"3 Mbps\" contradicts the other bound; expected min_rate to be at \
             most max_rate",
        ),
        (
            "call = { control = \"gcc\", start_rate = \"3 Mbps\" }",
            "call.start_rate`: \"3 Mbps\" is outside the bounds; expected a rate from min_rate to \
             max_rate",
        ),
    ]);
}
