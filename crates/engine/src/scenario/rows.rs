//! Reads ranges of the long lists of the normalised scenario. Thus a caller does not have to store
//! the text of a whole list in memory. Tables that several list items have in common are returned
//! only once.

use std::ops::Range;

use serde_json::json;

use super::model::*;
use super::normalised::carry;
use crate::notation::setting::Json;
use crate::words;

words! {
    /// A list of the normalised scenario whose length grows with the network.
    pub enum LongList {
        /// Stations.
        Stations = "stations",
        /// Links: first those between routers, then those of hosts.
        Links = "links",
        /// Flows.
        Flows = "flows",
    }
}

impl Scenario {
    /// Returns the JSON of the scenario with null in place of its long lists.
    pub fn head_to_json(&self) -> Json {
        self.around(Json::Null, Json::Null, Json::Null)
    }

    /// Returns the number of items of a long list.
    pub fn count_of(&self, list: LongList) -> usize {
        match list {
            LongList::Stations => self.stations.len(),
            LongList::Links => self.links.len(),
            LongList::Flows => self.flows.len(),
        }
    }

    /// Returns the items of a long list in the range `stretch`. Each item of `rows` is an item of
    /// `to_json` with an index in place of each inner table. The inner tables are in `shared`, in
    /// one list per key. Consecutive items with equal tables have the same index.
    ///
    /// # Panics
    /// If the range is not in the list.
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
        // the rows are inserted after the macro `json!`, because the macro would copy the rows
        let mut piece = json!({"shared": shared.into_json(), "rows": null});
        piece["rows"] = rows.into();
        piece
    }

    /// Returns a flow as an item with indices in place of tables. The transport is converted only
    /// if it differs from the transport of the previous flow.
    fn flow_row(&self, flow: &Flow, shared: &mut Shared) -> Json {
        if flow.reports.is_some() || flow.writes.is_some() || flow.stream.is_some() {
            return shared.without_tables(self.flow(flow));
        }
        let mut row = self.plain_flow(flow);
        let last = shared.carrier.as_ref();
        if last.is_none_or(|(transport, _)| *transport != flow.transport) {
            let mut tables = json!({});
            carry(&mut tables, &flow.transport);
            shared.carrier = Some((flow.transport.clone(), shared.without_tables(tables)));
        }
        if let (Json::Object(row), Some((_, Json::Object(carrier)))) = (&mut row, &shared.carrier) {
            row.extend(carrier.clone());
        }
        row
    }
}

/// The inner tables of the returned items: one list per key, in the order of their first use.
#[derive(Default)]
struct Shared {
    by_key: Vec<(String, Vec<Json>)>,
    /// Transport of the previous flow, and the indices of its tables; `None` before the first flow.
    carrier: Option<(Transport, Json)>,
}

impl Shared {
    /// Returns an item of a list with an index in place of each inner table.
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
