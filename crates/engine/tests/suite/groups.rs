//! Several groups of TCP connections at one station.

use lasthop_engine::scenario::{Format, Problem, Scenario, parse};

use super::queues::{mean, simulate};

const LAPTOP: &str = r#"
duration = "20 s"
warmup = "2 s"
replications = 1
cell = { phy = "802.11g" }
wire = { rate = "20 Mbps", delay = "10 ms" }
[station.laptop.download.video]
rate = "2 Mbps"
category = "video"
[station.laptop.download.backup]
connections = 2
congestion = "cubic"
start = "1 s"
start_spread = "500 ms"
[station.laptop.upload]
connections = 1
segments = 300
"#;

fn read(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    parse(text, Format::Toml, "x.toml", &settings).map_err(|problems| {
        let text =
            |problem: &Problem| format!("{problem} {}", problem.hint.as_deref().unwrap_or(""));
        let texts: Vec<String> = problems.iter().map(text).collect();
        texts.join("; ")
    })
}

#[test]
fn flows_have_the_names_and_the_settings_of_their_groups() {
    let scenario = read(LAPTOP, &[]).expect("a scenario");
    let names: Vec<&str> = scenario
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    let expected = [
        "laptop/up/1",
        "laptop/down/video/1",
        "laptop/down/backup/1",
        "laptop/down/backup/2",
    ];
    assert_eq!(names, expected);
    let json = scenario.to_json();
    let flow = |index: usize| &json["flows"][index];
    assert_eq!(flow(1)["category"], "video");
    assert_eq!(flow(1)["application"]["rate_bps"], 2_000_000);
    assert_eq!(flow(2)["tcp"]["congestion"], "cubic");
    assert_eq!(flow(1)["tcp"]["congestion"], "newreno");
    assert_eq!(
        (
            flow(2)["start_s"].as_f64(),
            flow(2)["start_spread_s"].as_f64()
        ),
        (Some(1.0), Some(0.5))
    );
    assert_eq!(flow(1)["start_spread_s"], 0.0);
    assert!(flow(2).get("application").is_none());
}

#[test]
fn each_group_gets_what_it_asks_for() {
    let result = simulate(LAPTOP, &[]);
    let goodput = |name: &str| mean(&result, "flows", name, "goodput_bps");
    let video_bps = goodput("laptop/down/video/1");
    assert!((video_bps / 2e6 - 1.0).abs() < 0.02, "{video_bps}");
    assert!(goodput("laptop/down/backup/1") > 2e6);
    assert!(goodput("laptop/down/backup/2") > 2e6);
}

#[test]
fn overrides_reach_the_groups() {
    let path = "station.laptop.download.video.rate";
    let scenario = read(LAPTOP, &[(path, "3 Mbps")]).expect("a scenario");
    assert_eq!(
        scenario.to_json()["flows"][1]["application"]["rate_bps"],
        3_000_000
    );
    let more = [("station.laptop.download.page", "{ size = \"1 MB\" }")];
    let scenario = read(LAPTOP, &more).expect("a scenario");
    assert_eq!(scenario.flows[4].name, "laptop/down/page/1");
}

/// A bare number of a group is its number of connections. A bare number of the table replaces its
/// groups.
#[test]
fn a_number_overrides_a_group_or_all_groups() {
    let names = |path: &str, value: &str| -> Vec<String> {
        let scenario = read(LAPTOP, &[(path, value)]).expect("a scenario");
        let down = scenario.flows.into_iter().map(|flow| flow.name);
        down.filter(|name| name.contains("/down/")).collect()
    };
    let download = "station.laptop.download";
    assert!(names(download, "0").is_empty());
    assert_eq!(names(download, "1"), ["laptop/down/1"]);
    let backup = "station.laptop.download.backup";
    assert_eq!(names(backup, "0"), ["laptop/down/video/1"]);
    assert_eq!(names(backup, "3").len(), 4);
}

#[test]
fn a_misspelt_group_of_an_override_is_named() {
    let cases = [
        (
            "download.vidoe.rate",
            "1 Mbps",
            "no such key or group; expected one of video, backup; to add one",
        ),
        ("download.vidoe.rate", "1 Mbps", "did you mean `video`?"),
        (
            "download.page",
            "2",
            "such as `station.laptop.download.page={ ... }`",
        ),
        (
            "upload.page.rate",
            "1 Mbps",
            "no such key, and the table has no groups",
        ),
        ("upload.connectons", "2", "did you mean `connections`?"),
    ];
    for (path, value, expected) in cases {
        let path = format!("station.laptop.{path}");
        let message = read(LAPTOP, &[(&path, value)]).expect_err("a refusal");
        assert!(message.contains(expected), "{message}");
        assert!(message.len() < 300, "{message}");
    }
}

/// The names of tables of settings are no names of groups. If such a table has keys of a group, the
/// message says so.
#[test]
fn names_of_settings_are_refused_as_names_of_groups() {
    for name in ["bbr", "bbr3", "dctcp", "prague", "compound", "cubic_linux"] {
        for keys in [
            "size = \"1 MB\"",
            "congestion = \"bbr\"",
            "rate = \"1 Mbps\", hystart = false",
        ] {
            let text = format!(
                "duration = \"5 s\"\ncell.phy = \"802.11g\"\nstation.a.download = {{ {name} = {{ {keys} }}, video = {{}} }}"
            );
            let message = read(&text, &[]).expect_err("a refusal");
            let start = format!(
                "`station.a.download.{name}`: is a table of settings, and no name of a group"
            );
            assert!(message.contains(&start), "{message}");
            assert!(
                message.contains(&format!("such as `{name}-1`")),
                "{message}"
            );
            assert!(
                !message.contains(';') || message.matches("error").count() < 2,
                "{message}"
            );
        }
    }
    let empty =
        "duration = \"5 s\"\ncell.phy = \"802.11g\"\nstation.a.download = { bbr = {}, video = {} }";
    let message = read(empty, &[]).expect_err("a refusal");
    assert!(
        message.contains("or another name for the group"),
        "{message}"
    );
}

#[test]
fn a_group_is_a_table_of_keys() {
    let cases = [
        (
            "video = 2",
            "`station.a.download.video`: is no key of this table, and 2 is no table of a group; expected a key, such as `connections`, or a group, such as `video = { connections = ... }`",
        ),
        (
            "speed = \"1 Mbps\"",
            "`station.a.download.speed`: unknown key; expected one of connections, start",
        ),
        (
            "video = { high = { rate = \"1 Mbps\" } }",
            "`station.a.download.video.high`: is a table in a group; expected a key",
        ),
        ("conections = 2", "did you mean `connections`?"),
    ];
    for (keys, expected) in cases {
        let text = format!(
            "duration = \"5 s\"\ncell.phy = \"802.11g\"\nstation.a.download = {{ {keys} }}"
        );
        let message = read(&text, &[]).expect_err("a refusal");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn groups_are_not_mixed_with_keys() {
    let cases = [
        (
            LAPTOP.replace(
                "[station.laptop.upload]",
                "[station.laptop.upload.x]\n[station.laptop.upload]",
            ),
            "`station.laptop.upload.connections`: conflicts with the groups of this table",
        ),
        (
            LAPTOP.replace("download.video", "download.rate"),
            "`station.laptop.download.rate`: is a key of this table, and no name of a group",
        ),
        (
            LAPTOP.replace("download.video", "download.\"a b\""),
            "station.laptop.download.\"a b\"",
        ),
        (
            LAPTOP.replace("category = \"video\"", "catgory = \"video\""),
            "`station.laptop.download.video.catgory`: unknown key",
        ),
        (
            LAPTOP.replace("rate = \"2 Mbps\"", "rate = \"30 Mbps\""),
            "`station.laptop.download.video.rate`: \"30 Mbps\" is 30821918 bit/s with headers of 40 B, more than the `wire` carries (20 Mbps); expected at most 19460 kbps of payload",
        ),
        (
            LAPTOP.replace("start = \"1 s\"", "start = \"30 s\""),
            "`station.laptop.download.backup.start`",
        ),
    ];
    for (text, expected) in cases {
        let message = read(&text, &[]).expect_err("a refusal");
        assert!(message.contains(expected), "{message}");
    }
}

/// The short form remains: a bare number, or a table with keys.
#[test]
fn the_short_form_has_no_groups() {
    let text = "duration = \"5 s\"\ncell.phy = \"802.11g\"\nstation.a = { download = 2, upload = { start = \"1 s\" } }";
    let scenario = read(text, &[("station.a.upload.connections", "1")]).expect("a scenario");
    let names: Vec<&str> = scenario
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["a/up/1", "a/down/1", "a/down/2"]);
}
