//! Tests of settings with changes during a run: of the channel, and of a station's ping replies.

use super::refused_values::message_of_settings;
use super::{SMALL, complaints, toml};

#[test]
fn a_change_of_the_channel_has_a_time_and_changes_something() {
    let message = |table: &str| {
        let message = complaints(toml(SMALL, &[("station.a.channel", table)]));
        let (_, reason) = message.split_once(": ").unwrap_or_default();
        reason.to_owned()
    };
    assert_eq!(
        message("{ rain = { at = \"5 s\" } }"),
        "`station.a.channel.rain`: this table changes nothing; expected `snr`, `error` or another \
         error probability"
    );
    assert!(
        message("{ rain = { error = 0.1 } }").starts_with("`station.a.channel.rain.at`: missing")
    );
    assert_eq!(
        message("{ rain = { at = \"10 s\", error = 0.1 } }"),
        "`station.a.channel.rain.at`: \"10 s\" is not before the end; expected less than the \
         duration of 10 s"
    );
    assert_eq!(
        message("{ a = { at = \"1 s\", error = 0.1 }, b = { at = \"1000 ms\", error = 0.2 } }"),
        "`station.a.channel.b.at`: \"1000 ms\" is also the time of `station.a.channel.a`; expected \
         different times"
    );
    assert_eq!(
        message("{ rain = { at = \"5 s\", snr = \"9 dB\", error_up = 0.1 } }"),
        "`station.a.channel.rain.error_up`: 0.1 conflicts with `snr` = \"9 dB\"; expected one of the two"
    );
    assert!(message("{ rain = { at = \"0 s\", error = 0.1 } }").contains("is too small"));
}

#[test]
fn a_change_of_answers_has_a_time_and_changes_something() {
    let message = |table: &str| {
        let settings = [("vsb", "{}"), ("station.a.pings", table)];
        message_of_settings(&settings)
    };
    assert_eq!(
        message("{ late = { at = \"5 s\" } }"),
        "`station.a.pings.late`: this table changes nothing; expected `ping_delay` or `ping_loss`"
    );
    assert!(
        message("{ late = { ping_loss = 0.1 } }").contains("`station.a.pings.late.at`: missing")
    );
    assert!(
        message("{ late = { at = \"10 s\", ping_loss = 0.1 } }").contains("is not before the end")
    );
    assert!(message("{ late = { at = \"1 s\", ping_loss = 1.1 } }").contains("is too large"));
    let table =
        "{ b = { at = \"5 s\", ping_loss = 1 }, a = { at = \"2 s\", ping_delay = \"7 ms\" } }";
    let settings = [
        ("vsb", "{}"),
        ("station.a.ping_delay", "300 ms"),
        ("station.a.pings", table),
    ];
    let scenario = toml(SMALL, &settings).unwrap();
    let changes = scenario.stations[0].echo_changes.iter();
    let problems: Vec<_> = changes
        .map(|change| (change.at.0, change.echo.delay.0, change.echo.loss))
        .collect();
    assert_eq!(
        problems,
        [
            (2_000_000_000, 7_000_000, 0.0),
            (5_000_000_000, 300_000_000, 1.0)
        ]
    );
}

#[test]
fn what_a_change_does_not_say_is_the_stations() {
    let table = "{ rain = { at = \"5 s\", error_down = 0.3 } }";
    let settings = [
        ("station.a.error_up", "0.1"),
        ("station.a.ack_error_down", "0.05"),
        ("station.a.channel", table),
    ];
    let scenario = toml(SMALL, &settings).unwrap();
    let channel = scenario.stations[0].channel_changes[0].channel;
    let errors = [
        channel.error_up,
        channel.error_down,
        channel.ack_error_up,
        channel.ack_error_down,
    ];
    assert_eq!(errors, [0.1, 0.3, 0.1, 0.05]);
}
