//! From TOML or JSON text to a checked [`Scenario`].
//!
//! ```text
//! text --read_toml/read_json--> Item --settings--> Item --decode--> Section --checks--> assemble --> Scenario
//! ```
//!
//! The tree keeps the line of every key, so that each problem names its place. `grammar` is the
//! one table of keys behind the decoder, the messages and [`schema`].

mod access;
mod assemble;
mod channel;
mod checks;
mod csma;
mod decode;
mod forms;
mod gateway;
mod grammar;
mod idle;
mod layers;
mod model;
mod network;
mod normalised;
mod opportunities;
mod presets;
mod problem;
mod queue;
mod rates;
mod read_json;
mod read_toml;
mod routes;
mod schema;
mod settings;
mod stations;
mod tree;
mod unclosed;
mod units;
mod value;
mod vbs;
mod vsb;
mod wce;

#[cfg(test)]
mod tests;

pub use channel::{Channel, ChannelChange, Quality};
pub use csma::{
    Connections, Csma, CsmaAccess, CsmaAcks, CsmaAir, CsmaFlow, CsmaLink, CsmaNode, CsmaPrice,
    CsmaUsers, DcfSettings, Hop, Spread,
};
pub use gateway::{AccessPoint, Discovery, Fairness, Gateway, GatewayStation, LeafQueue, Snmp};
pub use model::*;
pub use problem::{Problem, WHOLE_FILE};
pub use queue::*;
pub use rates::{Rates, data_rates};
pub use schema::schema;
pub use vsb::{VsbFairness, VsbSettings};

use problem::{Origin, Problems, one_line};
use tree::{Data, Item};

/// How the text of a scenario is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON with the same tree.
    Json,
}

/// Largest file that is read. [bytes]
pub const LARGEST_FILE: usize = 1 << 20;

/// The scenario that `text` and the settings over it describe, or every problem found.
///
/// `source` is the name of the file in messages; `settings` are pairs of key path and value
/// (`--set cell.ap.cwmin=15`), applied in order before anything is checked.
pub fn parse(
    text: &str,
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_bytes(text.as_bytes(), format, source, settings)
}

/// The same from the bytes of a file, which may be too many or not text at all.
pub fn parse_bytes(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    let mut problems = Problems::new(source, settings);
    let scenario = text(bytes, &mut problems)
        .and_then(|text| read(text, format, &mut problems))
        .and_then(|mut root| {
            settings::apply(&mut root, &grammar::ROOT, settings, &mut problems);
            csma::leave_alone(&mut root, &mut problems);
            let decoded = decode::decode(&root, &grammar::ROOT, &mut problems);
            checks::check(&decoded, &mut problems);
            gateway::check(&decoded, &mut problems);
            if problems.is_empty() {
                assemble::assemble(&decoded, &default_name(source), &mut problems)
            } else {
                None
            }
        });
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(scenario),
        _ => Err(problems.into_vec()),
    }
}

/// The gateway that a file describes, or every problem found. A file that says what to simulate is
/// checked as a scenario too; one that does not is refused by [`parse_bytes`] alone.
pub fn parse_gateway(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    let mut problems = Problems::new(source, settings);
    let gateway = text(bytes, &mut problems)
        .and_then(|text| read(text, format, &mut problems))
        .and_then(|mut root| {
            let grammar = &grammar::GATEWAY_ROOT;
            settings::apply(&mut root, grammar, settings, &mut problems);
            csma::leave_alone(&mut root, &mut problems);
            let decoded = decode::decode(&root, grammar, &mut problems);
            let simulated = decoded.entry("duration").is_some();
            if simulated {
                checks::check(&decoded, &mut problems);
            }
            gateway::check(&decoded, &mut problems);
            if decoded.table("gateway").is_none() && !problems.concern("gateway") {
                let message = "missing; needed is a table [gateway] with at least wan and lan";
                problems.add(Origin::File, "gateway", message.to_owned());
            }
            if !problems.is_empty() {
                return None;
            }
            let name = default_name(source);
            if simulated {
                assemble::assemble(&decoded, &name, &mut problems)?.gateway
            } else {
                gateway::assemble(&decoded, &name, &[])
            }
        });
    match gateway {
        Some(gateway) if problems.is_empty() => Ok(gateway),
        _ => Err(problems.into_vec()),
    }
}

/// The bytes as text, if they can be a scenario at all.
fn text<'t>(bytes: &'t [u8], problems: &mut Problems) -> Option<&'t str> {
    if bytes.len() > LARGEST_FILE {
        let message = format!(
            "{} bytes are too many for a scenario; allowed are at most {LARGEST_FILE}",
            bytes.len()
        );
        problems.add(Origin::File, WHOLE_FILE, message);
        return None;
    }
    let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|b| **b == b'\n').count();
    if let Some(offset) = bytes.iter().position(|b| *b == 0) {
        let message = "not text (a NUL byte); allowed is a scenario in TOML or JSON".to_owned();
        problems.add(Origin::Line(line_of(offset)), WHOLE_FILE, message);
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let message = "not text in UTF-8; allowed is a scenario in TOML or JSON".to_owned();
            let line = line_of(error.valid_up_to());
            problems.add(Origin::Line(line), WHOLE_FILE, message);
            None
        }
    }
}

fn read(text: &str, format: Format, problems: &mut Problems) -> Option<Item> {
    const NEEDED: &str = "allowed is a scenario with at least a duration and flows: stations with a cell, or wired links";
    let comment_only = |line: &str| {
        let line = line.trim();
        line.is_empty() || (format == Format::Toml && line.starts_with('#'))
    };
    if text.lines().all(comment_only) {
        problems.add(Origin::File, WHOLE_FILE, format!("nothing in it; {NEEDED}"));
        return None;
    }
    let root = match format {
        Format::Toml => read_toml::read(text, problems),
        Format::Json => read_json::read(text, problems),
    }?;
    if !matches!(root.data, Data::Table(_)) {
        let message = format!("{} is not a table; {NEEDED}", root.show());
        problems.add(Origin::File, WHOLE_FILE, message);
        return None;
    }
    Some(root)
}

/// The name of a scenario that gives none: its file's, without folder and ending.
fn default_name(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" || stem.starts_with('<') {
        "scenario".to_owned()
    } else {
        one_line(stem, 100)
    }
}
