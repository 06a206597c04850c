//! Settings that may change during a simulation: the rate of the virtual shared bottleneck,
//! contention windows and TXOPs of nodes, and limits and thresholds of queues.
//!
//! For a change, the scenario file is read again with the new value as an override. Thus the value
//! is checked like a value of the file. A change that alters any other setting is refused.

use super::model::*;
use super::root::Root;
use crate::notation::moving::{Movable, Moving};
use crate::notation::setting::FileTable;

/// A setting that may change during a run, with the path of its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Changeable {
    /// Path of the key in the scenario file, such as `cell.ap.cwmin`.
    pub path: String,
    /// Present value.
    pub now: Moving,
    /// Smallest and largest accepted value, in the unit of the field `now`.
    pub range: [f64; 2],
}

/// The changeable values of one node, queue or bottleneck, with the tables of the file that may set
/// them. Of these tables, the first suitable one is used. A table is suitable if an override with
/// the present value in this table leaves the scenario unchanged.
struct Place {
    tables: Vec<String>,
    values: Vec<Moving>,
}

/// Function that reads the scenario file with overrides (pairs of key path and value). It returns
/// `None` if the file is refused.
pub type Reader<'r> = dyn Fn(&[(String, String)]) -> Option<Scenario> + 'r;

impl Scenario {
    /// Returns this scenario with the changeable values of `other`.
    pub fn moved_to(&self, other: &Scenario) -> Scenario {
        let mut moved = self.clone();
        for (own, to) in moved.bss.iter_mut().zip(&other.bss) {
            own.cell.ap = node_moved(self, &own.cell.ap, &to.cell.ap);
        }
        for (own, to) in moved.stations.iter_mut().zip(&other.stations) {
            own.node = node_moved(self, &own.node, &to.node);
        }
        moved.wire.queue = self.wire.queue.moved_to(&other.wire.queue);
        moved.wire.back_queue = self.wire.back_queue.moved_to(&other.wire.back_queue);
        for (own, to) in moved.links.iter_mut().zip(&other.links) {
            own.queue = own.queue.moved_to(&to.queue);
        }
        if let (Some(own), Some(to)) = (&mut moved.bottleneck, &other.bottleneck) {
            own.queue_packets = to.queue_packets;
            own.rate_bps = own.rate_bps.and(to.rate_bps).or(own.rate_bps);
        }
        moved
    }

    /// Returns those settings of nodes, wires, the bottleneck and links that may change. `read`
    /// reads the scenario file with overrides.
    pub fn changeable(&self, read: &Reader<'_>) -> Vec<Changeable> {
        let is_same = |settings: &[(String, String)]| read(settings).as_ref() == Some(self);
        let places = self.places();
        let fits_all = all_at_once(&places).all(|settings| is_same(&settings));
        let mut changeable: Vec<Changeable> = Vec::new();
        for Place { tables, values } in places {
            let fits = |table: &&String| {
                let mut alone = values.iter().map(|value| setting(table, value));
                fits_all || alone.all(|setting| is_same(&[setting]))
            };
            let table = tables.iter().find(fits);
            // several nodes or queues may share one table, which is listed once
            let is_known = |table: &&String| {
                let mut paths = changeable.iter().map(|known| &known.path);
                paths.any(|path| is_in(path, table, &values))
            };
            let table = table.filter(|table| !is_known(table));
            let own = table.into_iter().flat_map(|table| {
                let values = values.iter();
                values.filter_map(move |now| {
                    let path = setting(table, now).0;
                    Some(Changeable {
                        range: Root::table().at(&path)?.kind.range()?,
                        now: now.clone(),
                        path,
                    })
                })
            });
            changeable.extend(own);
        }
        changeable
    }

    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        let has_rate = |rate: &LinkRate| *rate != LinkRate::Unlimited;
        if !self.stations.is_empty() {
            self.of_nodes(&mut places);
            if has_rate(&self.wire.rate) || has_rate(&self.wire.back) {
                places.push(Place {
                    tables: vec!["wire.queue".to_owned()],
                    values: self.wire.queue.moving(),
                });
            }
            if has_rate(&self.wire.back) && self.wire.back_queue != self.wire.queue {
                places.push(Place {
                    tables: vec!["wire.back_queue".to_owned()],
                    values: self.wire.back_queue.moving(),
                });
            }
        }
        if let Some(own) = &self.bottleneck {
            let rate = own.rate_bps.map(|rate_bps| rate_bps.at("rate"));
            let leaves = own.queue_packets.at("queue");
            places.push(Place {
                tables: vec!["vsb".to_owned()],
                values: rate.into_iter().chain([leaves]).collect(),
            });
        }
        let links = self.links.iter().filter(|link| !link.of_host);
        places.extend(links.filter(|link| has_rate(&link.rate)).map(|link| Place {
            tables: match link.name.strip_suffix("/back") {
                Some(name) => vec![format!("link.{name}.back_queue")],
                // the bottlenecks of a dumbbell or parking lot share the queue of the root table
                None => vec![format!("link.{}.queue", link.name), "queue".to_owned()],
            },
            values: link.queue.moving(),
        }));
        places
    }

    /// Adds contention windows, TXOPs and queues of the access point and of each table of stations.
    fn of_nodes(&self, places: &mut Vec<Place>) {
        let ap = ["cell.ap.queue", "cell.ap_queue"].map(str::to_owned);
        let everybody = self.flows.iter().filter(|flow| flow.station().is_some());
        let at_ap = categories(everybody);
        let node = &self.only_bss().cell.ap;
        self.of_node(("cell.ap", node, at_ap), ap.to_vec(), places);
        let mut groups: Vec<&str> = Vec::new();
        for (number, station) in self.stations.iter().enumerate() {
            if groups.last() == Some(&station.group.as_str()) {
                continue; // the stations of a group are consecutive and have equal settings
            }
            groups.push(&station.group);
            let table = format!("station.{}", station.group);
            let queues = vec![format!("{table}.queue"), "cell.queue".to_owned()];
            let own = self.flows.iter();
            let own = categories(own.filter(|flow| flow.station() == Some(number)));
            self.of_node((&table, &station.node, own), queues, places);
        }
    }

    fn of_node(
        &self,
        (table, node, categories): (&str, &Node, Vec<Category>),
        queues: Vec<String>,
        places: &mut Vec<Place>,
    ) {
        for category in categories {
            let table = match category {
                Category::BestEffort => table.to_owned(),
                other => format!("{table}.{}", other.name()),
            };
            let access = node.access(category);
            let mut values = vec![access.cwmin.at("cwmin"), access.cwmax.at("cwmax")];
            if moves_opportunities(self) {
                let packets = access.txop_packets;
                values.extend(packets.map(|packets| packets.at("txop_packets")));
                values.push(access.txop_limit.at("txop_limit"));
            }
            places.push(Place {
                tables: vec![table],
                values,
            });
        }
        places.push(Place {
            tables: queues,
            values: node.queue.moving(),
        });
    }
}

/// Returns the override that sets a value in a table: key path and value.
fn setting(table: &str, value: &Moving) -> (String, String) {
    (format!("{table}.{}", value.key), value.text.clone())
}

/// Returns whether `path` is the path of one of `values` in the table `table`.
fn is_in(path: &str, table: &str, values: &[Moving]) -> bool {
    let key = path
        .strip_prefix(table)
        .and_then(|rest| rest.strip_prefix('.'));
    key.is_some_and(|key| values.iter().any(|value| value.key == key))
}

/// Returns one list of overrides for each key that occurs in `places`. The overrides in this list
/// set the key to its present value, for every node, queue or bottleneck that has the key. Each
/// override applies to the first table that may set the value.
fn all_at_once(places: &[Place]) -> impl Iterator<Item = Vec<(String, String)>> {
    let mut keys: Vec<&str> = Vec::new();
    for value in places.iter().flat_map(|place| &place.values) {
        if !keys.contains(&value.key.as_str()) {
            keys.push(&value.key);
        }
    }
    keys.into_iter().map(|key| {
        let all = places.iter().flat_map(|place| {
            let own = place.values.iter().filter(|value| value.key == key);
            own.map(|value| setting(&place.tables[0], value))
        });
        all.collect()
    })
}

/// Returns the access categories of these flows. Best effort is always included, because it is
/// always in use.
fn categories<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<Category> {
    let mut used = vec![Category::BestEffort];
    used.extend(flows.map(|flow| flow.category));
    let in_order = Category::ALL.into_iter();
    in_order
        .filter(|category| used.contains(category))
        .collect()
}

/// Returns whether TXOPs may change during a run. In cells with aggregation they may not, because
/// aggregates are formed for a fixed TXOP.
fn moves_opportunities(scenario: &Scenario) -> bool {
    scenario.only_bss().cell.ppdus.is_none()
}

/// Returns the node `own` with the changeable values of `to`.
fn node_moved(scenario: &Scenario, own: &Node, to: &Node) -> Node {
    let access = |category| {
        let (own, to): (&Access, &Access) = (own.access(category), to.access(category));
        let moved = Access {
            cwmin: to.cwmin,
            cwmax: to.cwmax,
            ..*own
        };
        match moves_opportunities(scenario) {
            false => moved,
            true => Access {
                txop_packets: to.txop_packets,
                txop_limit: to.txop_limit,
                ..moved
            },
        }
    };
    Node {
        best_effort: access(Category::BestEffort),
        background: access(Category::Background),
        video: access(Category::Video),
        voice: access(Category::Voice),
        queue: own.queue.moved_to(&to.queue),
        ..own.clone()
    }
}
