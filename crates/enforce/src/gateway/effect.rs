//! Refuses settings of `[gateway]` that have no effect because of other settings. A value in the
//! file is accepted if only an override (`KEY=VALUE`) removes its effect.

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
const NOTHING: Keys = (&[], &[]);

/// Tables, and the names of keys in these tables.
type Keys<'a> = (&'a [&'a Section], &'a [&'a str]);

/// A rule about settings that have no effect under a condition.
struct Rule<'a> {
    /// Whether the condition is met, so that the settings have no effect.
    idle: bool,
    settings: Keys<'a>,
    /// Keys whose values cause the condition.
    causes: Keys<'a>,
    /// Change after which the settings have an effect, as text for the message.
    needed: &'a str,
}

fn rule<'a>(idle: bool, settings: Keys<'a>, causes: Keys<'a>, needed: &'a str) -> Rule<'a> {
    Rule {
        idle,
        settings,
        causes,
        needed,
    }
}

/// Facts about the gateway that decide which settings have an effect.
struct Known {
    /// Whether the rate of some access point is estimated.
    estimates: bool,
    /// Whether some access point has an estimated rate and shapes downlink UDP only.
    spares: bool,
    /// Whether some access point has fairness "flow".
    by_flow: bool,
    by_rate: bool,
    /// Whether the queue discipline of a leaf has one queue for all flows.
    plain_leaves: bool,
    /// Whether a source can discover stations that the file does not list.
    finds: bool,
    /// Whether the gateway must find the access point of some station. This is true for discovered
    /// stations, and for listed stations without the key `ap`.
    places: bool,
}

/// Checks the rules for `[gateway]`. Does nothing if a value on which the rules depend has been
/// refused.
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
    let by_rate: Keys = (&bottlenecks, &[RATE]);
    let by_fairness: Keys = (&bottlenecks, &[FAIRNESS]);
    let (on_udp, on_flow): (Keys, Keys) = ((&own, UDP_UPLINK), (&own, FLOW_LEAVES));
    let on_subnets: Keys = (&aps, SUBNETS);
    let by_sources: Keys = (&discover, SOURCES);
    let estimated = "gateway.rate = \"estimated\"";
    let discovery = "discover.neighbours = true, discover.leases or ap.NAME.snmp";
    let not_listed = "stations that are found, or a station without ap";
    let no_udp = known.estimates && !known.spares;
    let is_filtered = known.by_flow && !known.plain_leaves;
    let is_alone = aps.len() == 1;
    let (by_udp, by_discipline): (Keys, Keys) =
        ((&bottlenecks, &[UDP, RATE]), (&own, &[DISCIPLINE]));
    let rules = [
        rule(!known.estimates, (&shared, &estimator), by_rate, estimated),
        rule(!known.estimates, on_udp, by_rate, estimated),
        rule(no_udp, on_udp, by_udp, "gateway.udp = \"down\""),
        rule(
            !known.by_flow,
            on_flow,
            by_fairness,
            "gateway.fairness = \"flow\"",
        ),
        rule(
            is_filtered,
            on_flow,
            by_discipline,
            "gateway.discipline = \"best\"",
        ),
        rule(
            !known.by_rate,
            (&stations, STATION_RATE),
            by_fairness,
            "gateway.fairness = \"rate\"",
        ),
        rule(!known.finds, (&discover, ADMISSION), by_sources, discovery),
        rule(is_alone, on_subnets, NOTHING, "a second access point"),
        rule(
            !is_alone && !known.places,
            on_subnets,
            by_sources,
            not_listed,
        ),
    ];
    for rule in rules {
        rule.check(problems);
    }
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        let own: Vec<&Section> = ap.inside(AccessPointTable::wce).into_iter().collect();
        let is_fixed = ap.given(RATE).is_some() && is_fixed(&[ap]);
        let needed = format!("gateway.ap.{name}.rate = \"estimated\"");
        rule(is_fixed, (&own, &estimator), (&[ap], &[RATE]), &needed).check(problems);
        check_station_rates(gateway, name, ap, problems);
    }
}

/// Checks the settings for the stations' data rates, which have an effect only with fairness
/// "rate".
fn check_station_rates(gateway: &Section, name: &str, ap: &Section, problems: &mut Problems) {
    let Ok(shared) = BottleneckKeys::read(&Layers(&[ap, gateway])) else {
        return;
    };
    let snmp: Vec<&Section> = ap.inside(AccessPointTable::snmp).into_iter().collect();
    let needed = format!("gateway.ap.{name}.fairness = \"rate\"");
    let column = format!("gateway.ap.{name}.snmp.rates");
    let by_other = shared.fairness != Fairness::Rate;
    let lacks_column = given((&snmp, SNMP_RATES)).next().is_none();
    let (own, both) = ([ap], [ap, gateway]);
    let by_fairness: Keys = (&both, &[FAIRNESS]);
    let rules = [
        rule(by_other, (&own, STATION_RATES), by_fairness, &needed),
        rule(by_other, (&snmp, SNMP_RATES), by_fairness, &needed),
        rule(lacks_column, (&snmp, RATES_UNIT), NOTHING, &column),
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
        let overruled = given(self.causes).any(is_setting);
        for entry in given(self.settings) {
            // a value that was refused before is not refused again
            if (!overruled || is_setting(entry)) && !problems.concern(&entry.path) {
                let fault = format!("has no effect; expected {}", self.needed);
                entry.refuse_value(fault, problems);
            }
        }
    }
}

/// Returns the facts that decide which settings have an effect.
///
/// # Errors
/// A value has been refused.
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
        plain_leaves: !matches!(
            discipline,
            LeafQueue::FqCodel | LeafQueue::Sfq | LeafQueue::Cake
        ),
        finds: finds || asked,
        places: finds || asked || lacks(GatewayStationTable::ap.name()),
    })
}

/// Returns, for each bottleneck, the tables with its settings. The table of the access point
/// precedes that of the gateway, which has the lower priority.
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

/// Returns the values of these keys that the file or an override sets.
fn given<'a>((tables, keys): Keys<'a>) -> impl Iterator<Item = &'a Entry> {
    let places = tables
        .iter()
        .flat_map(move |table| keys.iter().map(move |key| (table, key)));
    places.filter_map(|(table, key)| table.given(key))
}

fn is_setting(entry: &Entry) -> bool {
    matches!(entry.origin, Origin::Setting(_))
}
