//! Tests of the table `[vsb]` of a virtual shared bottleneck: its values, and messages about
//! invalid values.

use super::super::{BottleneckFairness, BottleneckUdp};
use super::{SMALL, complaints, toml};
use crate::control::{WceRule, WceSettings};
use crate::kernel::time::Span;

/// Returns the message about [`SMALL`] with this table `[vsb]`.
fn message_of_vsb(table: &str) -> String {
    complaints(toml(&format!("{SMALL}[vsb]\n{table}"), &[]))
}

#[test]
fn an_empty_table_has_the_usual_settings() {
    let scenario = toml(&format!("{SMALL}[vsb]"), &[]).unwrap();
    let bottleneck = scenario.bottleneck.unwrap();
    assert_eq!(bottleneck.fairness, BottleneckFairness::Station);
    assert_eq!((bottleneck.queue_packets, bottleneck.rate_bps), (200, None));
    let usual = WceSettings::new(
        WceRule::Agreement,
        WceSettings::MAX_BPS,
        WceSettings::INTERVAL,
    );
    assert_eq!(bottleneck.wce, usual);
    assert_eq!(bottleneck.start, Span::ZERO);
    assert!(bottleneck.spares_udp);
    assert_eq!(bottleneck.udp, BottleneckUdp::Both);
}

#[test]
fn the_cap_grows_with_the_data_rate_of_the_preset() {
    let file = SMALL.replace("802.11b", "802.11g") + "[vsb]";
    let bottleneck = toml(&file, &[]).unwrap().bottleneck.unwrap();
    assert_eq!(bottleneck.wce.max_bps, 29_454_545);
    assert_eq!(bottleneck.wce.min_bps, 981_818);
}

#[test]
fn without_the_table_there_is_none() {
    assert_eq!(toml(SMALL, &[]).unwrap().bottleneck, None);
}

#[test]
fn values_that_do_not_fit_together_are_refused() {
    for (table, expected) in [
        (
            "fairness = \"fair\"",
            "fairness`: \"fair\" is unknown; expected one of \"station\", \"airtime\", \"rate\", \"flow\", \"direction\"",
        ),
        (
            "udp = \"up\"",
            "udp`: \"up\" is unknown; expected one of \"down\", \"both\"",
        ),
        (
            "wce.threshold = \"4 ms\"",
            "wce`: low \"5 ms\" is not below threshold \"4 ms\"; expected low below threshold",
        ),
        (
            "wce.min = \"7 Mbps\"",
            "wce.min`: \"7 Mbps\" is out of order; expected min up to max",
        ),
        (
            "wce.timeout = \"90 ms\"",
            "wce.timeout`: \"90 ms\" is out of order; expected high below timeout",
        ),
        (
            "wce = { rule = \"paper\", timeout = \"150 ms\" }",
            "wce.timeout`: \"150 ms\" is out of order; expected high below timeout",
        ),
        (
            "wce = { high = \"160 ms\", timeout = \"150 ms\" }",
            "wce`: high \"160 ms\" is not below timeout \"150 ms\"; expected high below timeout",
        ),
        (
            "wce.threshold = \"110 ms\"",
            "wce.threshold`: \"110 ms\" is out of order; expected threshold below high",
        ),
        (
            "wce.high = \"30 ms\"",
            "wce`: threshold \"40 ms\" is not below high \"30 ms\"; expected threshold below high",
        ),
        (
            "wce.speed_up = 1.1",
            "wce.speed_up`: 1.1 has no effect; expected rule = \"paper\"",
        ),
        (
            "wce = { rule = \"paper\", decrease = \"1 kbps\" }",
            "wce.decrease`: \"1 kbps\" is out of order; expected increase up to decrease",
        ),
        (
            "wce.back_off = 1",
            "wce.back_off`: 1 is too large; expected a number from 0.01 to 0.99",
        ),
    ] {
        let message = message_of_vsb(table);
        let after = message.split_once("`vsb.").map(|(_, rest)| rest);
        assert_eq!(after, Some(expected), "{table}: {message}");
    }
}

#[test]
fn it_needs_a_cell() {
    let text = "duration = \"1 s\"\ndumbbell = { bottleneck = \"1 Mbps\", flows = 3 }\n[vsb]";
    assert_eq!(
        complaints(toml(text, &[])),
        "x.toml:3: `vsb`: this table is for a bottleneck in front of an access point; expected a \
         cell with stations"
    );
}

/// Returns the problems of a file with a group of two stations, a single station, and these keys of
/// `[vsb]`.
fn message_of_groups(table: &str) -> String {
    let stations = "[station.pair]\ncount = 2\nupload = 1\n[station.own]\nupload = 1\n";
    let file =
        format!("duration = \"9 s\"\ncell = {{ phy = \"802.11b\" }}\n{stations}[vsb]\n{table}");
    complaints(toml(&file, &[]))
}

#[test]
fn a_group_has_stations_and_a_station_one_group() {
    for (table, expected) in [
        (
            "group.a = {}",
            "vsb.group.a`: has no stations: expected `stations`",
        ),
        (
            "group.a.stations = \"pear\"",
            "vsb.group.a.stations`: `pear` is no station: expected a station or a table of stations",
        ),
        (
            "group = { a = { stations = \"pair\" }, b = { stations = \"own, pair-2\" } }",
            "vsb.group.b.stations`: `pair-2` is also in `vsb.group.a`: a station must be in one group only",
        ),
        (
            "group.unlisted.stations = \"own\"",
            "vsb.group.unlisted.stations`: \"own\" has no effect, since `unlisted` has all stations that are in no other group: expected a group with another name",
        ),
        (
            "group.a = { stations = \"own\", share = 0 }",
            "vsb.group.a.share`: 0 is too small; expected a number from 0.01 to 100",
        ),
        (
            "fairness = \"flow\"\ngroup.unlisted.share = 2",
            "vsb.fairness`: \"flow\" does not support groups: must be \"station\" with `vsb.group`",
        ),
    ] {
        let message = message_of_groups(table);
        let after = message
            .split_once(": `")
            .map(|(_, rest)| rest.replace('\n', " "));
        assert_eq!(after.as_deref(), Some(expected), "{table}: {message}");
    }
}

#[test]
fn a_group_has_all_stations_of_a_table_and_unlisted_the_rest() {
    let stations = "[station.pair]\ncount = 2\nupload = 1\n[station.own]\nupload = 1\n";
    let groups = "[vsb.group.unlisted]\nmax = \"1 Mbps\"\n[vsb.group.a]\nstations = \"pair\"\n";
    let file = format!("duration = \"9 s\"\ncell = {{ phy = \"802.11b\" }}\n{stations}{groups}");
    let groups = toml(&file, &[]).unwrap().bottleneck.unwrap().groups;
    let of: Vec<_> = groups
        .iter()
        .map(|group| (group.name.as_str(), &*group.stations))
        .collect();
    assert_eq!(of, [("unlisted", &[2][..]), ("a", &[0, 1])]);
}
