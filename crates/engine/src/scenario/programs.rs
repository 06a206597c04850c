//! Programs that an emulation runs at the server, at stations and at ends of wired flows:
//! `[programs]`.

use super::model::{Ends, Program, Scenario};
use super::root::{ProgramTable, RootKeys};
use crate::notation::decode::Section;
use crate::notation::problem::{Problems, did_you_mean, one_line, one_of};

/// Maximum number of places that an error message names.
const MAX_SHOWN: usize = 10;

/// Adds the programs of the file to the scenario, after its stations and flows have been assembled.
pub(super) fn assemble(root: &Section, scenario: &mut Scenario, problems: &mut Problems) {
    let tables = root.tables(RootKeys::programs);
    if tables.is_empty() {
        return;
    }
    let places = places(scenario);
    for (place, section) in tables {
        if !places.contains(place) {
            let known = places.iter().map(String::as_str);
            let shown: Vec<&str> = known.clone().take(MAX_SHOWN).collect();
            let more = match places.len().saturating_sub(MAX_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = match places.is_empty() {
                true => "there are no places; accepted with stations, or flows between wired nodes"
                    .to_owned(),
                false => format!(
                    "there is no such place; expected {}{more}",
                    one_line(&one_of(&shown), 200)
                ),
            };
            let hint = did_you_mean(place, known);
            section.refuse_with_hint(message, hint, problems);
        }
        match section.value(ProgramTable::run) {
            Some(commands) => scenario.programs.push(Program {
                place: place.clone(),
                commands,
            }),
            None if section.lacks(ProgramTable::run) => {}
            None => {
                let message =
                    "missing; expected a command of the shell in quotes, or a list of them";
                let path = section.path(ProgramTable::run.name());
                problems.add(section.origin, &path, message.to_owned());
            }
        }
    }
}

/// Returns the names of the places of an emulation: the server, the stations, and the ends of wired
/// flows.
fn places(scenario: &Scenario) -> Vec<String> {
    let mut places = Vec::new();
    if !scenario.stations.is_empty() {
        places.push("server".to_owned());
    }
    places.extend(scenario.stations.iter().map(|station| station.name.clone()));
    for flow in scenario
        .flows
        .iter()
        .filter(|flow| flow.ends == Ends::Wired)
    {
        places.extend(["source", "sink"].map(|end| format!("{}/{end}", flow.name)));
    }
    places
}
