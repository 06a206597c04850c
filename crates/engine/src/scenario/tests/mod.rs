//! Tests from the text of a file to the scenario.

mod access;
mod aggregation;
mod bottleneck;
mod calls;
mod changes;
mod csma;
mod csma_files;
mod examples;
mod extension_table;
mod grammar;
mod networks;
mod programs;
mod properties;
mod queues;
mod refused_files;
mod refused_values;
mod rows;
mod settings;
mod tcp_defaults;

use super::{Format, Problem, Scenario, parse};

/// A valid file whose text ends inside the table of station `a`.
const SMALL: &str = r#"duration = "10 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
"#;

/// Parses TOML under the name `x.toml`.
fn toml(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    parse(text, Format::Toml, "x.toml", &settings)
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

/// Returns the message about line 5 of [`SMALL`] with `line` added to station `a`.
fn message_of(line: &str) -> String {
    complaints(toml(&format!("{SMALL}{line}"), &[]))
}
