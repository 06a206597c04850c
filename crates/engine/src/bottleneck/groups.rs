//! Groups of stations with a common share of the virtual shared bottleneck.

use crate::notation::decode::Section;
use crate::notation::forms::{Form, fault_of_each, words};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused, did_you_mean, one_line};
use crate::notation::setting::{FileTable, Json, formed, number, rate};
use crate::table;

/// Name of the group that contains all stations without another group.
pub const UNLISTED: &str = "unlisted";

/// Form of a value that lists names of stations, separated by spaces or commas.
static STATIONS: Form = Form {
    expected: "names of stations, separated by commas",
    fault: |text| fault_of_each(text, |_| None),
    pattern: r"^\s*[0-9A-Za-z_-]+([\s,]+[0-9A-Za-z_-]+)*\s*$",
};

table! {
    /// Stations that have one common share of the bottleneck, such as the devices of one person. Within a group, stations share equally.
    pub struct GroupTable in "vsb.group" {
        /// Stations of the group, by name.
        stations: Option<String> = formed(&STATIONS).absent("none; in `unlisted` all stations that are in no other group");
        /// Share of the group, relative to other groups. A station without a group has a share of 1.
        share: f64 = number(0.01..=100.0).default(1.0);
        /// Largest rate of the group.
        max_bps as "max": Option<u64> = rate().absent("none");
    }
}

/// A group of stations with a common share of the bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckGroup {
    /// Unique name of the group.
    pub name: String,
    /// Share of the group, relative to the shares of other groups.
    pub share: f64,
    /// Maximum rate of the group. [bit/s]
    pub max_bps: Option<u64>,
    /// Indices of the stations in the group.
    pub stations: Vec<usize>,
}

/// The tables of stations of the scenario: the name of each table, and the names of its stations in
/// the order of their indices.
pub(crate) type Made = [(String, Vec<String>)];

impl BottleneckGroup {
    /// Returns the groups of stations that the tables define.
    ///
    /// # Errors
    /// `Refused` if a value in the tables is invalid.
    pub(super) fn all(
        tables: &[(String, Section)],
        made: &Made,
    ) -> Result<Vec<BottleneckGroup>, Refused> {
        let every: Vec<&String> = made.iter().flat_map(|(_, names)| names).collect();
        let mut groups = Vec::new();
        for (name, section) in tables {
            let keys = GroupTable::read(&Layers(&[section]))?;
            let list = keys.stations.unwrap_or_default();
            let named: Vec<&str> = words(&list).flat_map(|word| members(word, made)).collect();
            let own = every.iter().enumerate();
            let own = own.filter(|(_, station)| named.contains(&station.as_str()));
            groups.push(BottleneckGroup {
                name: name.clone(),
                share: keys.share,
                max_bps: keys.max_bps,
                stations: own.map(|(index, _)| index).collect(),
            });
        }
        let taken: Vec<usize> = groups.iter().flat_map(|g| g.stations.clone()).collect();
        if let Some(unlisted) = groups.iter_mut().find(|group| group.name == UNLISTED) {
            let rest = (0..every.len()).filter(|index| !taken.contains(index));
            unlisted.stations = rest.collect();
        }
        Ok(groups)
    }

    /// Checks that each station is in at most one group, and that every group has stations.
    pub(super) fn check(tables: &[(String, Section)], made: &Made, problems: &mut Problems) {
        let mut owners: Vec<(&str, &str)> = Vec::new();
        for (name, section) in tables {
            section.check_name(name, problems);
            let Some(stations) = section.present(GroupTable::stations) else {
                if name != UNLISTED && !section.lacks(GroupTable::stations) {
                    section.refuse("has no stations: expected `stations`", problems);
                }
                continue;
            };
            if name == UNLISTED {
                let fault = format!(
                    "has no effect, since `{UNLISTED}` has all stations that are in no other group: expected a group with another name"
                );
                stations.refuse_value(fault, problems);
                continue;
            }
            for word in words(&stations.value) {
                let members = members(word, made);
                if members.is_empty() {
                    let message = format!(
                        "`{}` is no station: expected a station or a table of stations",
                        one_line(word, 40)
                    );
                    let tables = made.iter().map(|(table, _)| table.as_str());
                    let hint = did_you_mean(word, tables);
                    stations.refuse_with_hint(message, hint, problems);
                }
                for station in members {
                    let owner = owners.iter().find(|(known, _)| *known == station);
                    match owner {
                        Some((_, other)) if *other != name => {
                            let message = format!(
                                "`{station}` is also in `vsb.group.{}`: a station must be in one group only",
                                one_line(other, 80)
                            );
                            stations.refuse(message, problems);
                        }
                        Some(_) => {}
                        None => owners.push((station, name)),
                    }
                }
            }
        }
    }

    /// Returns the group as JSON for the normalised scenario.
    pub(crate) fn to_json(&self, names: &[&str]) -> Json {
        let stations: Vec<&str> = self.stations.iter().map(|&index| names[index]).collect();
        serde_json::json!({
            "name": self.name,
            "share": self.share,
            "max_bps": self.max_bps,
            "stations": stations,
        })
    }
}

/// Returns the names of the stations that `word` selects: `word` is the name of a table of
/// stations, or of a single station.
fn members<'a>(word: &str, made: &'a Made) -> Vec<&'a str> {
    if let Some((_, names)) = made.iter().find(|(table, _)| table == word) {
        return names.iter().map(String::as_str).collect();
    }
    let names = made.iter().flat_map(|(_, names)| names);
    let single = names.filter(|name| *name == word);
    single.map(String::as_str).collect()
}
