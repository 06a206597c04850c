//! Tests of the bottleneck without a network: which stations the bottleneck pings, and how it
//! processes replies.

use super::*;
use crate::control::WceRule;
use crate::queue::QueueCounters;
use crate::scenario::{Format, parse};

const MS: u64 = 1_000_000;

fn bottleneck(settings: &str) -> Bottleneck {
    let text = format!(
        "duration = \"10 s\"\ncell = {{ phy = \"802.11b\" }}\n\
         [station.a]\nudp_up = \"1 Mbps\"\n[station.b]\ndownload = 1\n[vsb]\n{settings}\n"
    );
    let Ok(scenario) = parse(&text, Format::Toml, "test.toml", &[]) else {
        panic!("a bottleneck");
    };
    let Some(bottleneck) = &scenario.bottleneck else {
        panic!("a bottleneck");
    };
    Bottleneck::new(bottleneck, scenario.hotspot(), &Streams::new(1, 0))
}

/// Returns the counters of a bottleneck through which no packet has passed.
fn nothing() -> Passed {
    Passed {
        leaves: vec![QueueCounters::default(); 2],
        bytes: 0,
    }
}

#[test]
fn those_with_traffic_are_asked_and_the_paper_asks_all() {
    for (rule, expected) in [(WceRule::Agreement, vec![1]), (WceRule::Paper, vec![0, 1])] {
        let mut vsb = bottleneck(&format!("wce.rule = \"{}\"", rule.name()));
        let mut passed = nothing();
        let mut asked = Vec::new();
        while vsb.deadline() < Time(4_000 * MS) {
            passed.leaves[1].left += 1;
            asked.extend(vsb.advance(vsb.deadline(), |_| 0, &passed));
        }
        let mut asked: Vec<u32> = asked.into_iter().map(|ask| ask.station).collect();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked, expected, "{rule:?}");
    }
}

#[test]
fn a_station_that_sends_datagrams_through_it_has_traffic_and_is_asked() {
    for (udp, expected) in [("both", vec![0]), ("down", vec![])] {
        let mut vsb = bottleneck(&format!("udp = \"{udp}\""));
        let mut passed = nothing();
        let mut asked = Vec::new();
        while vsb.deadline() < Time(4_000 * MS) {
            // a packet leaves the leaf of station a; it can only be a UDP datagram of this station
            passed.leaves[0].left += 1;
            asked.extend(vsb.advance(vsb.deadline(), |_| 0, &passed));
        }
        let mut asked: Vec<u32> = asked.into_iter().map(|ask| ask.station).collect();
        asked.dedup();
        assert_eq!(asked, expected, "{udp}");
    }
}

#[test]
fn a_given_rate_asks_for_no_pings() {
    let mut vsb = bottleneck("rate = \"3 Mbps\"");
    assert_eq!(vsb.rate_bps(), None);
    assert_eq!(vsb.advance(vsb.deadline(), |_| 0, &nothing()), []);
    assert_eq!(
        (vsb.rate_bps(), vsb.deadline()),
        (Some(3_000_000), Time::NEVER)
    );
}

#[test]
fn a_ping_is_answered_once() {
    let mut vsb = bottleneck("wce.rule = \"paper\"");
    let begin = vsb.deadline();
    let [ping] = vsb.advance(begin, |_| 0, &nothing())[..] else {
        panic!("a ping");
    };
    let back = begin + Span(3 * MS);
    assert_eq!(vsb.answered(back, ping.number as u16, 0), Some(vec![]));
    assert_eq!(vsb.answered(back, ping.number as u16, 0), None);
    assert_eq!(vsb.answered(back, 77, 0), None);
    assert_eq!(
        (vsb.rtts().count(), vsb.last_rtt()),
        (1, Some(Span(3 * MS)))
    );
}

#[test]
fn a_station_that_sends_datagrams_is_spared_for_five_seconds() {
    for (settings, spared) in [("", true), ("udp_aware = false\n", false)] {
        let mut vsb = bottleneck(&format!("{settings}wce.rule = \"paper\""));
        let mut asked = [0, 0];
        while vsb.deadline() < Time(4_000 * MS) {
            // station a sends a datagram before the first ping, and no datagram after this ping
            let pings = vsb.advance(
                vsb.deadline(),
                |station| u64::from(station == 0),
                &nothing(),
            );
            asked[pings.first().map_or(0, |ping| ping.station as usize)] += 1;
        }
        assert_eq!(asked[0] == 0, spared, "{asked:?}");
        while vsb.deadline() < Time(9_000 * MS) {
            let pings = vsb.advance(
                vsb.deadline(),
                |station| u64::from(station == 0),
                &nothing(),
            );
            asked[pings.first().map_or(0, |ping| ping.station as usize)] += 1;
        }
        assert!(asked[0] > 5 && asked[1] > 40, "{asked:?}");
    }
}

#[test]
fn a_mean_rate_is_that_since_measuring_began() {
    let mut vsb = bottleneck("rate = \"3 Mbps\"");
    vsb.advance(vsb.deadline(), |_| 0, &nothing());
    vsb.begin_to_measure(Time(2_000 * MS));
    assert_eq!(vsb.mean_rate_bps(Time(2_000 * MS)), None);
    assert_eq!(vsb.mean_rate_bps(Time(5_000 * MS)), Some(3e6));
}
