//! Tests of the whole way from text to gateway.

mod files;
mod grammar;
mod properties;

use crate::{Gateway, parse_gateway, parse_scenario};
use lasthop_engine::scenario::{Files, Format, Problem, Scenario};

/// A scenario without fault that ends inside the table of station `a`.
const SMALL: &str = r#"duration = "10 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
"#;

/// The least gateway, in a file without a scenario.
const LEAST: &str = "[gateway]\nwan = \"eth0\"\nlan = \"eth1\"\n";

/// The gateway of a file.
fn gateway(text: &str) -> Result<Gateway, Vec<Problem>> {
    parse_gateway(
        text.as_bytes(),
        Format::Toml,
        "cafe.toml",
        &[],
        &Files::new(),
    )
}

/// The scenario of a file, and its gateway if it has one.
fn scenario(text: &str) -> Result<(Scenario, Option<Gateway>), Vec<Problem>> {
    parse_scenario(
        text.as_bytes(),
        Format::Toml,
        "cafe.toml",
        &[],
        &Files::new(),
    )
    .map(|(scenario, tables)| (scenario, tables.gateway))
}

/// What is said of [`LEAST`] with `more` behind it, hints as lines of their own.
fn said_of(more: &str) -> String {
    complaints(gateway(&format!("{LEAST}{more}")))
}

/// The problems as printed, hints as lines of their own; empty if there are none.
fn complaints<T>(result: Result<T, Vec<Problem>>) -> String {
    let problems = result.err().unwrap_or_default();
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
        std::iter::once(problem.to_string()).chain(hint)
    });
    lines.collect::<Vec<_>>().join("\n")
}
