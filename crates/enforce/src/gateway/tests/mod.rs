//! Tests from the text of a file to the gateway.

mod files;
mod grammar;
mod properties;

use crate::{EXTENSION, Gateway, NEEDS_GATEWAY};
use lasthop_engine::scenario::{Files, Format, Problem, Scenario};

/// A valid scenario whose text ends inside the table of station `a`.
const SMALL: &str = r#"duration = "10 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
"#;

/// The smallest gateway, in a file without a scenario.
const LEAST: &str = "[gateway]\nwan = \"eth0\"\nlan = \"eth1\"\n";

/// Returns the gateway of a file.
fn gateway(text: &str) -> Result<Gateway, Vec<Problem>> {
    gateway_with(text, "cafe.toml", &[])
}

/// Returns the gateway of a file with settings over its text.
fn gateway_with(
    text: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    parse(text.as_bytes(), Format::Toml, source, settings)
}

/// Returns the gateway of bytes in either format.
fn parse(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    let files = Files::new();
    let tables = EXTENSION.parse(NEEDS_GATEWAY, bytes, format, source, settings, &files)?;
    Ok(tables.gateway.unwrap())
}

/// Returns the scenario of a file, and its gateway if it has one.
fn scenario(text: &str) -> Result<(Scenario, Option<Gateway>), Vec<Problem>> {
    let files = Files::new();
    let bytes = text.as_bytes();
    let parsed = EXTENSION.parse_with_scenario(bytes, Format::Toml, "cafe.toml", &[], &files);
    parsed.map(|(scenario, tables)| (scenario, tables.gateway))
}

/// Returns the messages about [`LEAST`] followed by `more`. Hints are on separate lines.
fn said_of(more: &str) -> String {
    complaints(gateway(&format!("{LEAST}{more}")))
}

/// Returns the problems as printed, with hints on separate lines; empty without problems.
fn complaints<T>(result: Result<T, Vec<Problem>>) -> String {
    let problems = result.err().unwrap_or_default();
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
        std::iter::once(problem.to_string()).chain(hint)
    });
    lines.collect::<Vec<_>>().join("\n")
}
