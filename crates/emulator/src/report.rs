//! From counters at the end of the warm-up and at the end of the run to measured quantities.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::mac::dcf::AP;
use lasthop_engine::measure::{Between, Item, Marks, Measures, quantile};
use lasthop_engine::quantities::{FOREIGN, LATENESS_P99};
use lasthop_engine::result::put_together;
use serde_json::Value;

use crate::Hotspot;

/// How late packets were handed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness(Vec<Span>);

impl Lateness {
    pub(crate) fn add(&mut self, late: Span) {
        self.0.push(late);
    }

    fn p99_s(&self) -> Option<f64> {
        let mut spans = self.0.clone();
        spans.sort_unstable();
        quantile(&spans, 0.99).map(Span::seconds)
    }
}

/// Counters at `at`.
pub(crate) fn marks(hotspot: &Hotspot<'_>, at: Time) -> Marks {
    Marks::of_cell(&hotspot.cell, hotspot.leaves(), at)
}

/// Lists of items, as in a result, over the time from `start` to `end`.
pub(crate) fn report(
    start: &Marks,
    hotspot: &Hotspot<'_>,
    end: Time,
    lateness: &Lateness,
) -> Value {
    let period = Between {
        start,
        end: &marks(hotspot, end),
    };
    let (cell, scenario) = (&hotspot.cell, hotspot.scenario);
    let node = |number, name| Item::new(name, period.node(cell.medium().categories_of(number)));
    let stations = (1..).zip(&scenario.stations);
    let queues = (0..cell.queues()).map(|number| period.queue(cell.queue_name(number), number));
    let leaves = scenario.bottleneck_leaves();
    let leaves = leaves.map(|(leaf, name)| period.leaf(&name, leaf));
    let totals = [
        LATENESS_P99.of(lateness.p99_s()),
        FOREIGN.of(hotspot.foreign as f64),
    ];
    let mut lists = vec![
        (
            "stations",
            stations.map(|(n, one)| node(n, &one.name)).collect(),
        ),
        ("aps", vec![node(AP, "ap")]),
        ("queues", queues.chain(leaves).collect()),
        ("cells", vec![Item::new("cell", [period.busy()])]),
        ("totals", vec![Item::new("run", totals)]),
    ];
    if let Some(bottleneck) = &hotspot.bottleneck {
        let link = Item::new("vsb", period.bottleneck(bottleneck));
        lists.push(("links", vec![link]));
    }
    Value::Object(put_together(&[&Measures { lists }]).0)
}
