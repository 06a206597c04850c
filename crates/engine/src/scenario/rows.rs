//! Long lists of the normalised scenario a stretch at a time, so that who reads them need not have all of their
//! text at once, and reads what rows have in common once.

use std::ops::Range;

use serde_json::json;

use super::model::*;
use super::normalised::carry;
use crate::notation::setting::Json;

/// A list of the normalised scenario that grows with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongList {
    /// `stations`.
    Stations,
    /// `links`: those of routers, then those of hosts.
    Links,
    /// `flows`.
    Flows,
}

impl LongList {
    /// All of them.
    pub const ALL: [LongList; 3] = [LongList::Stations, LongList::Links, LongList::Flows];

    /// Its key.
    pub fn name(self) -> &'static str {
        match self {
            LongList::Stations => "stations",
            LongList::Links => "links",
            LongList::Flows => "flows",
        }
    }
}

impl Scenario {
    /// `to_json` with null in the place of its long lists.
    pub fn head_to_json(&self) -> Json {
        self.around(Json::Null, Json::Null, Json::Null)
    }

    /// Rows of a long list.
    pub fn count_of(&self, list: LongList) -> usize {
        match list {
            LongList::Stations => self.stations.len(),
            LongList::Links => self.links.len(),
            LongList::Flows => self.flows.len(),
        }
    }

    /// A stretch of a long list, its `rows` as `to_json` has them but for tables: those are in `shared` by
    /// key, each once for all rows in succession that have the same, and rows have their index.
    ///
    /// # Panics
    /// The stretch goes beyond the list.
    pub fn rows_to_json(&self, list: LongList, stretch: Range<usize>) -> Json {
        let mut shared = Shared::default();
        let rows: Vec<Json> = match list {
            LongList::Stations => {
                let rows = stretch.map(|index| self.station_json(index));
                rows.map(|row| shared.without_tables(row)).collect()
            }
            LongList::Links => {
                let rows = self.links[stretch].iter().map(LinkSettings::to_json);
                rows.map(|row| shared.without_tables(row)).collect()
            }
            LongList::Flows => {
                let rows = self.flows[stretch].iter();
                rows.map(|flow| self.flow_row(flow, &mut shared)).collect()
            }
        };
        // the macro would copy what it is given
        let mut piece = json!({"shared": shared.into_json(), "rows": null});
        piece["rows"] = rows.into();
        piece
    }

    /// A flow whose transport is made only if it is another than that of the flow before.
    fn flow_row(&self, flow: &Flow, shared: &mut Shared) -> Json {
        if flow.reports.is_some() {
            return shared.without_tables(self.flow(flow));
        }
        let mut row = self.plain_flow(flow);
        let same = shared.carrier.as_ref();
        let same = same.is_some_and(|(transport, _)| *transport == flow.transport);
        if !same {
            let mut tables = json!({});
            carry(&mut tables, &flow.transport);
            shared.carrier = Some((flow.transport.clone(), shared.without_tables(tables)));
        }
        if let (Json::Object(row), Some((_, Json::Object(carrier)))) = (&mut row, &shared.carrier) {
            row.extend(
                carrier
                    .iter()
                    .map(|(key, index)| (key.clone(), index.clone())),
            );
        }
        row
    }
}

/// Tables of rows by key, each with the last that was new at its end.
#[derive(Default)]
struct Shared {
    by_key: Vec<(String, Vec<Json>)>,
    /// The last transport, and its tables' indices.
    carrier: Option<(Transport, Json)>,
}

impl Shared {
    /// A row with an index in the place of each table.
    fn without_tables(&mut self, mut row: Json) -> Json {
        for (key, value) in row.as_object_mut().into_iter().flatten() {
            if value.is_object() {
                *value = self.index(key, value.take()).into();
            }
        }
        row
    }

    fn index(&mut self, key: &str, table: Json) -> usize {
        let place = match self.by_key.iter().position(|(known, _)| known == key) {
            Some(place) => place,
            None => {
                self.by_key.push((key.to_owned(), Vec::new()));
                self.by_key.len() - 1
            }
        };
        let known = &mut self.by_key[place].1;
        if known.last() != Some(&table) {
            known.push(table);
        }
        known.len() - 1
    }

    fn into_json(self) -> Json {
        let tables = self.by_key.into_iter();
        Json::Object(tables.map(|(key, all)| (key, Json::Array(all))).collect())
    }
}
