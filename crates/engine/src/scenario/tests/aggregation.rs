//! Tests of the aggregation settings of nodes and categories in a file.

use super::super::*;
use super::{complaints, message_of, toml};
use crate::mac::{Aggregation, Category};

/// Returns the aggregation of each category, for station `a` and for the access point of an
/// 802.11ac cell.
fn aggregations(settings: &[(&str, &str)]) -> [[Aggregation; 4]; 2] {
    let text = "duration = \"10 s\"\ncell = { phy = \"802.11ac\" }\nstation.a.upload = 1\n";
    let scenario = toml(text, settings);
    let Ok(scenario) = scenario else {
        panic!("{}", complaints(scenario));
    };
    let of = |node: &Node| Category::ALL.map(|category| *node.aggregation(category));
    [of(&scenario.stations[0].node), of(&scenario.bss[0].cell.ap)]
}

fn mpdus(settings: &[(&str, &str)]) -> [[u32; 4]; 2] {
    aggregations(settings).map(|node| node.map(|own| own.mpdus))
}

#[test]
fn only_voice_has_no_aggregates_of_mpdus_by_default() {
    assert_eq!(mpdus(&[]), [[64, 64, 64, 1]; 2]);
    let of_all = ("cell.aggregation.mpdus", "16");
    assert_eq!(mpdus(&[of_all]), [[16, 16, 16, 1]; 2]);
    let voice = ("cell.voice.aggregation.mpdus", "8");
    assert_eq!(mpdus(&[of_all, voice]), [[16, 16, 16, 8]; 2]);
    let at_ap = ("cell.ap.voice.aggregation.mpdus", "4");
    assert_eq!(mpdus(&[voice, at_ap]), [[64, 64, 64, 8], [64, 64, 64, 4]]);
    let other = ("station.a.background.aggregation", "{ mpdus = 1 }");
    assert_eq!(mpdus(&[other]), [[1, 64, 64, 1], [64, 64, 64, 1]]);
}

#[test]
fn a_category_has_the_keys_of_its_node_that_it_does_not_give() {
    let settings = [
        ("station.a.aggregation.attempts", "3"),
        ("cell.video.aggregation.time", "1 ms"),
        ("cell.voice.aggregation.attempts", "7"),
    ];
    let [[_, best_effort, video, voice], _] = aggregations(&settings);
    assert_eq!(best_effort.attempts, Some(3));
    let time = crate::kernel::time::Span(1_000_000);
    assert_eq!(
        video,
        Aggregation {
            time,
            ..best_effort
        }
    );
    let attempts = Some(7);
    let mpdus = 1;
    assert_eq!(
        voice,
        Aggregation {
            attempts,
            mpdus,
            ..best_effort
        }
    );
}

#[test]
fn a_category_s_aggregates_are_checked_as_those_of_the_node() {
    let cell = "duration = \"10 s\"\nstation.a.upload = 1\n";
    let message = |phy: &str, path: &str, value: &str| {
        let text = format!("{cell}cell = {{ phy = \"{phy}\" }}\n");
        complaints(toml(&text, &[(path, value)]))
    };
    assert_eq!(
        message("802.11ac", "cell.ap.video.aggregation.mpdus", "65"),
        "--set cell.ap.video.aggregation.mpdus=65: `cell.ap.video.aggregation.mpdus`: 65 is more than 802.11ac allows for the MPDUs of a PPDU; expected at most 64"
    );
    assert_eq!(
        message("802.11g", "cell.voice.aggregation.mpdus", "8"),
        "--set cell.voice.aggregation.mpdus=8: `cell.voice.aggregation`: this cell cannot send \
         aggregates; accepted with phy \"802.11n\", \"802.11ac\" or \"802.11ax\""
    );
    assert!(
        message_of("voice = { aggregation = { mpdus = 2 } }").contains("cannot send aggregates")
    );
}
