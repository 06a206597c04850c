//! Tests of `[programs]`.

use super::super::parse;
use super::toml;
use crate::notation::Format;

const CELL: &str = r#"
duration = "9 s"
cell = { phy = "802.11b" }
dumbbell = { bottleneck = "5 Mbps" }
[flow.mine]
[station.a]
[programs]
server = "iperf3 -s"
a = ["ping server", "date"]
"mine/source" = { run = "true" }
"#;

#[test]
fn programs_are_in_the_normalised_scenario_in_order_of_the_file() {
    let json = toml(CELL, &[]).unwrap().to_json();
    let programs = json["programs"].as_array().unwrap();
    let rows: Vec<String> = programs.iter().map(ToString::to_string).collect();
    assert_eq!(
        rows,
        [
            r#"{"place":"server","commands":["iperf3 -s"]}"#,
            r#"{"place":"a","commands":["ping server","date"]}"#,
            r#"{"place":"mine/source","commands":["true"]}"#,
        ]
    );
}

#[test]
fn a_scenario_without_programs_says_nothing_of_them() {
    let without = CELL.split("[programs]").next().unwrap();
    assert!(
        toml(without, &[])
            .unwrap()
            .to_json()
            .get("programs")
            .is_none()
    );
}

#[test]
fn a_setting_replaces_or_adds_what_runs_at_a_place() {
    let settings = [
        ("programs.server", "sleep 9"),
        ("programs.mine/sink", "[\"b\"]"),
    ];
    let programs = toml(CELL, &settings).unwrap().programs;
    let of = |place: &str| {
        programs
            .iter()
            .find(|program| program.place == place)
            .unwrap()
    };
    assert_eq!(of("server").commands, ["sleep 9"]);
    assert_eq!(of("mine/sink").commands, ["b"]);
    assert_eq!(of("a").commands.len(), 2);
}

#[test]
fn what_cannot_run_is_refused_at_its_line() {
    let cases = [
        (
            "b = 'ls'",
            "`programs.b`: there is no such place; expected one of server, a, mine/source, mine/sink",
        ),
        (
            "\"mine/end\" = 'ls'",
            "`programs.\"mine/end\"`: there is no such place; expected one of server, a, mine/source, mine/sink",
        ),
        (
            "\"mine/sink\" = 3",
            "`programs.\"mine/sink\"`: 3 is not a command in quotes; expected a command of the shell in quotes, or a list of them",
        ),
        (
            "\"mine/sink\" = ''",
            "`programs.\"mine/sink\"`: \"\" is empty; expected a command of the shell in quotes, or a list of them",
        ),
        (
            "\"mine/sink\" = []",
            "`programs.\"mine/sink\"`: a list is empty; expected a command of the shell in quotes, or a list of them",
        ),
        (
            "\"mine/sink\" = ['ls', 1]",
            "`programs.\"mine/sink\"`: a list has 1, which is not a command in quotes; expected a command of the shell in quotes, or a list of them",
        ),
        (
            "\"mine/sink\" = {}",
            "`programs.\"mine/sink\".run`: missing; expected a command of the shell in quotes, or a list of them",
        ),
        (
            "\"mine/sink\" = { command = 'ls' }",
            "`programs.\"mine/sink\".command`: unknown key; expected run",
        ),
    ];
    for (line, expected) in cases {
        let text = format!("{CELL}{line}\n");
        let problems = parse(&text, Format::Toml, "x.toml", &[]).unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages[0].lines().next(),
            Some(format!("x.toml:11: {expected}").as_str()),
            "{line}"
        );
    }
}

#[test]
fn without_places_there_are_no_programs() {
    let text = "duration = '9 s'\ncsma.link.a = {}\nflow.a.route = ['a']\nprograms.a = 'ls'\n";
    let problems = parse(text, Format::Toml, "x.toml", &[]).unwrap_err();
    let expected = "x.toml:4: `programs.a`: there are no places; accepted with stations, or flows between wired nodes";
    assert_eq!(problems[0].to_string(), expected);
}

#[test]
fn a_table_of_programs_is_not_empty() {
    let text = "duration = '9 s'\ncell.phy = '802.11b'\nstation.a.upload = 1\nprograms = {}\n";
    let problems = parse(text, Format::Toml, "x.toml", &[]).unwrap_err();
    let expected = "x.toml:4: `programs`: empty; expected commands by place, such as { server = \"iperf3 -s\" }";
    assert_eq!(problems[0].to_string(), expected);
}

#[test]
fn where_programs_run_no_station_needs_a_flow() {
    let text = "duration = \"2 s\"\ncell = { phy = \"802.11g\" }\n[station.a]\n";
    assert!(parse(text, Format::Toml, "x.toml", &[]).is_err());
    let text = format!("{text}[programs]\nserver = \"iperf3 -s\"\n");
    match parse(&text, Format::Toml, "x.toml", &[]) {
        Ok(scenario) => assert_eq!((scenario.stations.len(), scenario.flows.len()), (1, 0)),
        Err(problems) => panic!("{problems:?}"),
    }
}
