//! Tests of the whole way from text to gateway.

mod files;
mod grammar;
mod properties;

use crate::{EXTENSION, Gateway, NEEDS_GATEWAY};
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
    gateway_with(text, "cafe.toml", &[])
}

/// The gateway of a file with settings over its text.
fn gateway_with(
    text: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    parse(text.as_bytes(), Format::Toml, source, settings)
}

/// The gateway of bytes in either format.
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

/// The scenario of a file, and its gateway if it has one.
fn scenario(text: &str) -> Result<(Scenario, Option<Gateway>), Vec<Problem>> {
    let files = Files::new();
    let bytes = text.as_bytes();
    let parsed = EXTENSION.parse_with_scenario(bytes, Format::Toml, "cafe.toml", &[], &files);
    parsed.map(|(scenario, tables)| (scenario, tables.gateway))
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
