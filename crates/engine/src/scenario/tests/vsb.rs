//! The table `[vsb]`: what it means, and what is said of what is wrong with it.

use super::super::VsbFairness;
use super::{SMALL, complaints, toml};
use crate::control::WceSettings;
use crate::kernel::time::Span;

/// Parses [`SMALL`] with a table of a bottleneck.
fn said_of_vsb(table: &str) -> String {
    complaints(toml(&format!("{SMALL}[vsb]\n{table}"), &[]))
}

#[test]
fn an_empty_table_is_the_papers_bottleneck() {
    let scenario = toml(&format!("{SMALL}[vsb]"), &[]).unwrap();
    let vsb = scenario.vsb.unwrap();
    assert_eq!(vsb.fairness, VsbFairness::Station);
    assert_eq!((vsb.queue_packets, vsb.rate_bps), (200, None));
    let usual = WceSettings::new(WceSettings::MAX_BPS, WceSettings::INTERVAL);
    assert_eq!(vsb.wce, usual);
    assert_eq!(vsb.start, Span::ZERO);
    assert!(vsb.spares_udp);
}

#[test]
fn the_cap_grows_with_the_data_rate_of_the_preset() {
    let file = SMALL.replace("802.11b", "802.11g") + "[vsb]";
    let vsb = toml(&file, &[]).unwrap().vsb.unwrap();
    assert_eq!(vsb.wce.max_bps, 29_454_545);
    assert_eq!(vsb.wce.min_bps, 981_818);
}

#[test]
fn without_the_table_there_is_none() {
    assert_eq!(toml(SMALL, &[]).unwrap().vsb, None);
}

#[test]
fn values_that_do_not_fit_together_are_refused() {
    for (table, expected) in [
        (
            "fairness = \"fair\"",
            "fairness`: \"fair\" is unknown; allowed are \"station\", \"airtime\", \"rate\", \"flow\", \"direction\"",
        ),
        (
            "threshold = \"4 ms\"",
            "threshold`: \"4 ms\" makes no sense here; allowed is a time between low and high",
        ),
        (
            "min_rate = \"7 Mbps\"",
            "max_rate`: its default makes no sense here; allowed is a rate not below min_rate",
        ),
        (
            "timeout = \"150 ms\"",
            "timeout`: \"150 ms\" makes no sense here; allowed is a time longer than high",
        ),
        (
            "decrease = \"1 kbps\"",
            "decrease`: \"1 kbps\" makes no sense here; allowed is a rate not below increase",
        ),
        (
            "back_off = 1",
            "back_off`: 1 makes no sense here; allowed is a factor above 0 and below 1",
        ),
    ] {
        let said = said_of_vsb(table);
        let after = said.split_once("`vsb.").map(|(_, rest)| rest);
        assert_eq!(after, Some(expected), "{table}: {said}");
    }
}

#[test]
fn it_needs_a_cell() {
    let text = "duration = \"1 s\"\ndumbbell = { bottleneck = \"1 Mbps\", flows = 3 }\n[vsb]";
    assert_eq!(
        complaints(toml(text, &[])),
        "x.toml:3: `vsb`: it stands in front of an access point; needed is a cell with stations"
    );
}
