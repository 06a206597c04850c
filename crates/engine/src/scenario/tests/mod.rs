//! Tests that convert the text of a file to a scenario.

mod access;
mod aggregation;
mod bottleneck;
mod cake;
mod calls;
mod changes;
mod conflicts;
mod csma;
mod csma_files;
mod examples;
mod extension_table;
mod grammar;
mod networks;
mod pings;
mod programs;
mod properties;
mod queues;
mod refused_files;
mod refused_values;
mod rows;
mod settings;
mod tcp_defaults;

use super::{Format, Problem, Scenario, parse};

/// A valid file. Its text ends inside the table of station `a`, so that tests can append keys of
/// the station.
const SMALL: &str = r#"duration = "10 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
"#;

/// Parses TOML text as the file `x.toml`.
fn toml(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    parse(text, Format::Toml, "x.toml", &settings)
}

/// Returns the problems as printed, with hints on separate lines; an empty text without problems.
fn complaints<T>(result: Result<T, Vec<Problem>>) -> String {
    let problems = result.err().unwrap_or_default();
    let lines = problems.iter().flat_map(|problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
        std::iter::once(problem.to_string()).chain(hint)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the problem of [`SMALL`] if `line` is appended to the table of station `a`.
fn message_of(line: &str) -> String {
    complaints(toml(&format!("{SMALL}{line}"), &[]))
}
