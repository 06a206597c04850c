//! Tests that parse the text of a file and check the resulting gateway.

mod files;
mod grammar;
mod properties;

use crate::{EXTENSION, Gateway, NEEDS_GATEWAY};
use lasthop_engine::scenario::{Files, Format, Problem, Scenario};

/// A valid scenario. The text ends inside the table of station `a`, so that keys can be added.
const SMALL: &str = r#"duration = "10 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
"#;

/// The shortest gateway file, without a scenario.
const LEAST: &str = "[gateway]\nwan = \"eth0\"\nlan = \"eth1\"\n";

/// Returns the gateway of a file.
fn gateway(text: &str) -> Result<Gateway, Vec<Problem>> {
    gateway_with(text, "cafe.toml", &[])
}

/// Returns the gateway of a file with overrides (`KEY=VALUE`).
fn gateway_with(
    text: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    parse(text.as_bytes(), Format::Toml, source, settings)
}

/// Returns the gateway of a TOML or JSON file.
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

/// Returns the messages about the file [`LEAST`] followed by `more`. Hints are on separate lines.
fn said_of(more: &str) -> String {
    complaints(gateway(&format!("{LEAST}{more}")))
}

/// Returns the problems as they are printed, with hints on separate lines, or an empty text.
fn complaints<T>(result: Result<T, Vec<Problem>>) -> String {
    let problems = result.err().unwrap_or_default();
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
        std::iter::once(problem.to_string()).chain(hint)
    });
    lines.collect::<Vec<_>>().join("\n")
}
