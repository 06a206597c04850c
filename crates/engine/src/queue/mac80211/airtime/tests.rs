//! Tests airtime fairness and AQL limits with calculated traces, one rule of the Linux kernel per
//! test.

use super::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

const SETTING: Mac80211Setting = Mac80211Setting {
    aql: true,
    ..super::super::tests::SETTING
};

/// Parameters with which each byte takes 1 us of air time.
const ESTIMATE: Estimate = Estimate {
    rate_bps: 8_000_000,
    each: Span(0),
};

fn party(station: u32) -> Party {
    Party {
        category: 0,
        station,
    }
}

/// Returns accounts of this number of stations in one access category, without packets.
fn airtime(setting: Mac80211Setting, stations: u32) -> Airtime {
    let mut airtime = Airtime::new(&setting, stations, 1);
    for station in 0..stations {
        airtime.estimate(party(station), ESTIMATE);
    }
    airtime
}

/// Adds packets with this air time to the packets in the device for a station.
fn hold(airtime: &mut Airtime, station: u32, air_us: u64) {
    airtime.holds(
        party(station),
        u32::from(air_us > 0),
        air_us.saturating_sub(38),
    );
}

/// Serves one round, in which each station always has packets, and returns the stations in order.
fn round(airtime: &mut Airtime, now: Time) -> Vec<u32> {
    airtime.begin_round(0);
    let mut visited = Vec::new();
    while let Some(station) = airtime.next(0) {
        visited.push(station);
        airtime.list(now, party(station), true);
    }
    visited
}

#[test]
fn a_station_stays_in_front_until_it_is_in_debt() {
    let mut airtime = airtime(SETTING, 2);
    for station in 0..2 {
        airtime.list(Time::ZERO, party(station), true);
    }
    // the station that was added last is served first, and the round is over when this station
    // would be served again
    assert_eq!(round(&mut airtime, Time::ZERO), [1]);
    assert_eq!(round(&mut airtime, Time::ZERO), [1]);
    // the deficit is 256 - 1000 = -744 us: one weight is added, the station moves to the end of the
    // list, and the other station is served
    airtime.charge(Time::ZERO, party(1), Span(1_000 * US));
    assert_eq!(round(&mut airtime, Time::ZERO), [0]);
    assert_eq!(airtime.accounts[1].deficit, -488_000);
}

#[test]
fn debts_are_paid_by_one_weight_a_turn_and_air_times_become_equal() {
    let mut airtime = airtime(SETTING, 3);
    for station in 0..3 {
        airtime.list(Time::ZERO, party(station), true);
    }
    let costs = [300, 4_000, 1_100].map(|air| Span(air * US));
    let mut air = [0; 3];
    for _ in 0..20_000 {
        airtime.begin_round(0);
        let station = airtime.next(0).unwrap();
        airtime.list(Time::ZERO, party(station), true);
        let cost = costs[station as usize];
        airtime.charge(Time::ZERO, party(station), cost);
        air[station as usize] += cost.0;
    }
    // the air times of two stations differ by at most the longest PPDU (4 ms) plus the largest
    // debt; the largest debt is the longest PPDU plus one weight (256 us)
    let (least, most) = (air.iter().min().unwrap(), air.iter().max().unwrap());
    assert!(most - least <= 2 * (4_000 + 256) * US, "{air:?}");
}

#[test]
fn what_the_device_holds_is_part_of_the_debt() {
    let mut airtime = airtime(SETTING, 2);
    for station in 0..2 {
        airtime.list(Time::ZERO, party(station), true);
    }
    // the AQL limits of the station allow more packets, but its balance of 256 - 3000 us is
    // negative
    hold(&mut airtime, 1, 3_000);
    assert!(airtime.may_take(party(1)));
    assert_eq!(round(&mut airtime, Time::ZERO), [0]);
}

#[test]
fn without_fairness_stations_take_turns_whatever_they_have_sent() {
    let mut airtime = airtime(
        Mac80211Setting {
            airtime_fairness: false,
            ..SETTING
        },
        3,
    );
    for station in 0..3 {
        airtime.list(Time::ZERO, party(station), true);
    }
    airtime.charge(Time::ZERO, party(0), Span(50 * MS));
    assert_eq!(round(&mut airtime, Time::ZERO), [0, 1, 2]);
    assert_eq!(round(&mut airtime, Time::ZERO), [0, 1, 2]);
}

#[test]
fn limits_of_what_the_device_holds_are_low_high_and_the_radios() {
    let mut airtime = airtime(SETTING, 4);
    // below `aql_low`, the packets of other stations have no effect; from `aql_low` to `aql_high`,
    // the total must be below `aql_radio`
    hold(&mut airtime, 0, 11_999);
    assert!(airtime.may_take(party(0)));
    hold(&mut airtime, 0, 12_000);
    assert!(!airtime.may_take(party(0)));
    hold(&mut airtime, 1, 6_000);
    assert!(airtime.may_take(party(1)), "18 of 24 ms");
    hold(&mut airtime, 2, 6_000);
    assert!(
        !airtime.may_take(party(1)),
        "24 ms in all, and not below low"
    );
    hold(&mut airtime, 3, 4_999);
    assert!(airtime.may_take(party(3)), "below low");
    hold(&mut airtime, 0, 0);
    assert_eq!(airtime.total, 16_999 * US);
}

#[test]
fn a_category_takes_nothing_while_the_device_holds_half_of_low_for_each_and_high() {
    let mut airtime = airtime(SETTING, 3);
    for station in 0..3 {
        airtime.list(Time::ZERO, party(station), true);
    }
    // the limit for an access category with three stations: (3 - 1) * 5 / 2 + 12 = 17 ms
    hold(&mut airtime, 0, 12_000);
    hold(&mut airtime, 1, 4_999);
    assert!(airtime.begin_round(0));
    hold(&mut airtime, 1, 5_000);
    assert!(!airtime.begin_round(0));
    assert_eq!(airtime.next(0), None);
}

#[test]
fn a_station_without_packets_stays_listed_while_it_is_in_debt() {
    let mut airtime = airtime(SETTING, 2);
    airtime.list(Time::ZERO, party(0), true);
    airtime.begin_round(0);
    assert_eq!(airtime.next(0), Some(0));
    airtime.charge(Time::ZERO, party(0), Span(500 * US));
    airtime.list(Time(10 * MS), party(0), false);
    assert!(airtime.accounts[0].listed, "-244 us, and active 10 ms ago");
    // in the next round one weight is added to the deficit, which is then positive, and the station
    // leaves the list
    airtime.begin_round(0);
    assert_eq!(airtime.next(0), Some(0));
    airtime.list(Time(10 * MS), party(0), false);
    assert!(!airtime.accounts[0].listed);
}

#[test]
fn who_has_had_no_packets_for_100_ms_pays_nothing() {
    let mut airtime = airtime(SETTING, 1);
    airtime.charge(Time::ZERO, party(0), Span(MS));
    assert_eq!(airtime.accounts[0].deficit, 256_000, "it never had any");
    airtime.list(Time::ZERO, party(0), true);
    airtime.charge(Time(100 * MS), party(0), Span(MS));
    assert_eq!(airtime.accounts[0].deficit, -744_000);
    airtime.charge(Time(101 * MS), party(0), Span(MS));
    assert_eq!(airtime.accounts[0].deficit, -744_000);
}

#[test]
fn without_limits_of_air_time_nothing_is_pending() {
    let mut airtime = airtime(
        Mac80211Setting {
            aql: false,
            ..SETTING
        },
        1,
    );
    hold(&mut airtime, 0, 50_000);
    assert!(airtime.may_take(party(0)) && airtime.begin_round(0));
    assert_eq!(airtime.total, 0);
}

#[test]
fn an_estimate_is_the_time_of_the_bytes_and_a_part_for_each_packet() {
    let of = Estimate {
        rate_bps: 65_000_000,
        each: Span(2_500),
    };
    // 10 packets of 1500 bytes: (10 * (1500 + 38)) * 8 / 65 = 1892.9 us, plus 25 us
    assert_eq!(of.of(10, 15_000), 1_892_923 + 25_000);
    assert_eq!(of.of(0, 0), 0);
}
