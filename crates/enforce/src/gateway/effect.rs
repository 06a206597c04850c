//! Settings that have no effect beside the others. Whoever wrote one meant something, so it is refused; but
//! where a setting over the file took its effect away, what the file says stays.

use lasthop_engine::notation::decode::{Entry, Section};
use lasthop_engine::notation::layers::Layers;
use lasthop_engine::notation::problem::{Origin, Problems, Refused};
use lasthop_engine::notation::setting::FileTable;

use super::assemble::discovery;
use super::settings::{
    AccessPointTable, BottleneckKeys, DiscoverTable, Fairness, GatewayStationTable, GatewayTable,
    GatewayWce, LeafQueue, ShapedUdp, SnmpTable,
};

const RATE: &str = BottleneckKeys::rate_bps.name();
const UDP: &str = BottleneckKeys::udp.name();
const FAIRNESS: &str = BottleneckKeys::fairness.name();
const DISCIPLINE: &str = GatewayTable::discipline.name();
const FLOW_LEAVES: &[&str] = &[GatewayTable::flow_leaves.name()];
const UDP_UPLINK: &[&str] = &[GatewayTable::udp_uplink_bps.name()];
const STATION_RATE: &[&str] = &[GatewayStationTable::rate_bps.name()];
const STATION_RATES: &[&str] = &[AccessPointTable::station_rates.name()];
const SNMP_RATES: &[&str] = &[SnmpTable::rates.name()];
const RATES_UNIT: &[&str] = &[SnmpTable::rates_unit_bps.name()];
const SUBNETS: &[&str] = &[AccessPointTable::subnets.name()];
const ADMISSION: &[&str] = &[
    DiscoverTable::quarantine.name(),
    DiscoverTable::new_per_minute.name(),
];
const SOURCES: &[&str] = &[
    DiscoverTable::neighbours.name(),
    DiscoverTable::leases.name(),
];

/// A rule about settings without effect: whether it applies, in which tables, to which keys; the tables
/// and keys that take their effect away, and what is needed for one.
struct Rule<'a> {
    idle: bool,
    tables: &'a [&'a Section],
    keys: &'a [&'a str],
    causes: (&'a [&'a Section], &'a [&'a str]),
    needed: &'a str,
}

/// What of the whole decides on the effect of a part.
struct Known {
    /// Whether the rate of some access point is estimated.
    estimates: bool,
    /// Whether some of these access points leaves uplink UDP alone.
    spares: bool,
    /// Whether some access point has this fairness.
    by_flow: bool,
    by_rate: bool,
    /// Whether leaves leave flows to their filter.
    plain_leaves: bool,
    /// Whether stations can be found that the file does not list.
    finds: bool,
    /// Whether stations can be found of which nothing else says the access point.
    places: bool,
}

/// Checks `[gateway]`; nothing where a value that decides has been refused.
pub(crate) fn check(gateway: &Section, problems: &mut Problems) {
    let Ok(known) = known(gateway) else { return };
    let own = [gateway];
    let aps: Vec<&Section> = each(gateway.tables(GatewayTable::ap));
    let stations: Vec<&Section> = each(gateway.tables(GatewayTable::station));
    let bottlenecks: Vec<&Section> = aps.iter().copied().chain(own).collect();
    let discover: Vec<&Section> = gateway.inside(GatewayTable::discover).into_iter().collect();
    let estimator: Vec<&str> = GatewayWce::table()
        .keys()
        .map(|(key, _)| key.name)
        .collect();
    let shared: Vec<&Section> = gateway.inside(GatewayTable::wce).into_iter().collect();
    let rules = [
        Rule {
            idle: !known.estimates,
            tables: &shared,
            keys: &estimator,
            causes: (&bottlenecks, &[RATE]),
            needed: "gateway.rate = \"estimated\"",
        },
        Rule {
            idle: !known.estimates,
            tables: &own,
            keys: UDP_UPLINK,
            causes: (&bottlenecks, &[RATE]),
            needed: "gateway.rate = \"estimated\"",
        },
        Rule {
            idle: known.estimates && !known.spares,
            tables: &own,
            keys: UDP_UPLINK,
            causes: (&bottlenecks, &[UDP, RATE]),
            needed: "gateway.udp = \"down\"",
        },
        Rule {
            idle: !known.by_flow,
            tables: &own,
            keys: FLOW_LEAVES,
            causes: (&bottlenecks, &[FAIRNESS]),
            needed: "gateway.fairness = \"flow\"",
        },
        Rule {
            idle: known.by_flow && !known.plain_leaves,
            tables: &own,
            keys: FLOW_LEAVES,
            causes: (&own, &[DISCIPLINE]),
            needed: "gateway.discipline = \"best\"",
        },
        Rule {
            idle: !known.by_rate,
            tables: &stations,
            keys: STATION_RATE,
            causes: (&bottlenecks, &[FAIRNESS]),
            needed: "gateway.fairness = \"rate\"",
        },
        Rule {
            idle: !known.finds,
            tables: &discover,
            keys: ADMISSION,
            causes: (&discover, SOURCES),
            needed: "discover.neighbours = true, discover.leases or ap.NAME.snmp",
        },
        Rule {
            idle: aps.len() == 1,
            tables: &aps,
            keys: SUBNETS,
            causes: (&[], &[]),
            needed: "a second access point",
        },
        Rule {
            idle: aps.len() > 1 && !known.places,
            tables: &aps,
            keys: SUBNETS,
            causes: (&discover, SOURCES),
            needed: "stations that are found, or a station without ap",
        },
    ];
    for rule in rules {
        rule.check(problems);
    }
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        let own: Vec<&Section> = ap.inside(AccessPointTable::wce).into_iter().collect();
        let fixed = ap.given(RATE).is_some() && is_fixed(&[ap]);
        let rule = Rule {
            idle: fixed,
            tables: &own,
            keys: &estimator,
            causes: (&[ap], &[RATE]),
            needed: &format!("gateway.ap.{name}.rate = \"estimated\""),
        };
        rule.check(problems);
        check_station_rates(gateway, name, ap, problems);
    }
}

/// Rates of stations have an effect with fairness "rate" only.
fn check_station_rates(gateway: &Section, name: &str, ap: &Section, problems: &mut Problems) {
    let Ok(shared) = BottleneckKeys::read(&Layers(&[ap, gateway])) else {
        return;
    };
    let snmp: Vec<&Section> = ap.inside(AccessPointTable::snmp).into_iter().collect();
    let needed = format!("gateway.ap.{name}.fairness = \"rate\"");
    let by_other = shared.fairness != Fairness::Rate;
    let lacks_column = given(&snmp, SNMP_RATES).next().is_none();
    let causes: (&[&Section], &[&str]) = (&[ap, gateway], &[FAIRNESS]);
    let rules = [
        Rule {
            idle: by_other,
            tables: &[ap],
            keys: STATION_RATES,
            causes,
            needed: &needed,
        },
        Rule {
            idle: by_other,
            tables: &snmp,
            keys: SNMP_RATES,
            causes,
            needed: &needed,
        },
        Rule {
            idle: lacks_column,
            tables: &snmp,
            keys: RATES_UNIT,
            causes: (&[], &[]),
            needed: &format!("gateway.ap.{name}.snmp.rates"),
        },
    ];
    for rule in rules {
        rule.check(problems);
    }
}

impl Rule<'_> {
    fn check(&self, problems: &mut Problems) {
        if !self.idle {
            return;
        }
        let overruled = given(self.causes.0, self.causes.1).any(is_setting);
        for entry in given(self.tables, self.keys) {
            // a value that is refused anyway is not refused again
            if (!overruled || is_setting(entry)) && !problems.concern(&entry.path) {
                let fault = format!("has no effect; expected {}", self.needed);
                entry.refuse_value(fault, problems);
            }
        }
    }
}

/// What decides.
///
/// # Errors
/// Some of it has been refused.
fn known(gateway: &Section) -> Result<Known, Refused> {
    let aps = gateway.tables(GatewayTable::ap);
    let mut fairness = Vec::new();
    let (mut estimates, mut spares) = (false, false);
    for tables in &bottlenecks(gateway) {
        let shared = BottleneckKeys::read(&Layers(tables))?;
        fairness.push(shared.fairness);
        estimates |= shared.rate_bps.is_none();
        spares |= shared.rate_bps.is_none() && shared.udp == ShapedUdp::Down;
    }
    let discovery = discovery(gateway)?;
    let stations = gateway.tables(GatewayTable::station);
    let lacks = |key| {
        stations
            .iter()
            .any(|(_, station)| station.given(key).is_none())
    };
    let asked = (aps.iter()).any(|(_, ap)| ap.inside(AccessPointTable::snmp).is_some());
    let finds = discovery.neighbours || discovery.leases.is_some();
    let discipline = Layers(&[gateway]).need(GatewayTable::discipline)?;
    Ok(Known {
        estimates,
        spares,
        by_flow: fairness.contains(&Fairness::Flow),
        by_rate: fairness.contains(&Fairness::Rate),
        plain_leaves: !matches!(discipline, LeafQueue::FqCodel | LeafQueue::Sfq),
        finds: finds || asked,
        places: finds || asked || lacks(GatewayStationTable::ap.name()),
    })
}

/// Returns the tables of each bottleneck, those that count most first: an access point's, the gateway's.
pub(super) fn bottlenecks(gateway: &Section) -> Vec<Vec<&Section>> {
    match gateway.tables(GatewayTable::ap) {
        [] => vec![vec![gateway]],
        aps => aps.iter().map(|(_, ap)| vec![ap, gateway]).collect(),
    }
}

fn is_fixed(tables: &[&Section]) -> bool {
    let rate = Layers(tables).value(BottleneckKeys::rate_bps);
    rate.is_ok_and(|rate| rate.flatten().is_some())
}

fn each(tables: &[(String, Section)]) -> Vec<&Section> {
    tables.iter().map(|(_, table)| table).collect()
}

/// What the file or a setting says under these keys.
fn given<'a>(tables: &'a [&Section], keys: &'a [&str]) -> impl Iterator<Item = &'a Entry> {
    let places = tables
        .iter()
        .flat_map(move |table| keys.iter().map(move |key| (table, key)));
    places.filter_map(|(table, key)| table.given(key))
}

fn is_setting(entry: &Entry) -> bool {
    matches!(entry.origin, Origin::Setting(_))
}
