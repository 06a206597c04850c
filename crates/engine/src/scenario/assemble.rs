//! From a decoded file without problems to the [`Scenario`].

use super::flows::{self, start_of};
use super::model::*;
use super::root::{Root, RootKeys, StationTable};
use super::stations::member_names;
use super::{csma, idle, network, opportunities, sharing};
use crate::kernel::time::Span;
use crate::mac::Preset;
use crate::notation::decode::{Section, decode_table};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems, Refused};
use crate::notation::setting::FileTable;
use crate::notation::tree::{Data, Item};
use crate::notation::units::{self, TIME};

/// Longest warm-up that is chosen without being asked for.
const LONGEST_DEFAULT_WARMUP: Span = Span(20_000_000_000);

/// Builds the scenario.
///
/// # Errors
/// There is a problem.
pub(super) fn assemble(
    root: &Section,
    default_name: &str,
    problems: &mut Problems,
) -> Result<Scenario, Refused> {
    let top = Layers(&[root]);
    let Root { name, duration } = Root::read(&top)?;
    let keys = RootKeys::read(&top)?;
    let idle = idle_cell();
    let cell_section = root.inside(RootKeys::cell).unwrap_or(&idle);
    let cell = Cell::read(&Layers(&[cell_section]))?;
    let preset = Preset::of(cell.phy.kind);
    let default_warmup = Span(duration.0 / 10).min(LONGEST_DEFAULT_WARMUP);
    let mut scenario = Scenario {
        name: name.unwrap_or_else(|| default_name.to_owned()),
        duration,
        warmup: keys.warmup.unwrap_or(default_warmup),
        replications: keys.replications,
        seed: keys.seed,
        cell,
        wire: Wire::read(&top.inside(RootKeys::wire).layers())?,
        bottleneck: match root.inside(RootKeys::bottleneck) {
            Some(bottleneck) => Some(BottleneckSettings::of(bottleneck, preset.rate_bps)?),
            None => None,
        },
        stations: Vec::new(),
        links: Vec::new(),
        flows: Vec::new(),
        csma: None,
        record: Record::read(&top.inside(RootKeys::record).layers())?,
    };
    network::assemble(root, &mut scenario, problems)?;
    scenario.csma = csma::assemble(root, &scenario, problems)?;
    let wired = std::mem::take(&mut scenario.flows);
    for (group, section) in root.tables(RootKeys::station) {
        let pattern = station(root, section, cell_section, group, &scenario.cell)?;
        let flows = flows::of_station(root, section, &scenario.links, duration, problems)?;
        for name in member_names(group, section) {
            let index = scenario.stations.len();
            scenario.flows.extend(flows.iter().map(|flow| Flow {
                name: format!("{name}/{}", flow.name),
                class: group.clone(),
                ends: match flow.ends {
                    Ends::Station { direction, .. } => Ends::Station {
                        station: index,
                        direction,
                    },
                    Ends::Wired => Ends::Wired,
                },
                ..flow.clone()
            }));
            scenario.stations.push(Station {
                name,
                ..pattern.clone()
            });
        }
    }
    scenario.flows.extend(wired);
    stagger(root, &mut scenario, problems)?;
    opportunities::check(root, &scenario, problems);
    idle::check(root, &scenario, problems);
    flows::check_sources(root, &scenario, problems);
    sharing::assemble(root, &mut scenario, problems);
    Ok(scenario)
}

/// The cell of a file without one: no station is in it.
fn idle_cell() -> Section {
    let item = |data| Item {
        origin: Origin::File,
        data,
    };
    let phy = item(Data::Text(PhyKind::Dot11b.name().to_owned()));
    let cell = item(Data::Table(vec![(Phy::kind.name().to_owned(), phy)]));
    decode_table(&cell, Cell::table(), &mut Problems::new("", &[]))
}

/// A station of the table `section`, without its number.
fn station(
    root: &Section,
    section: &Section,
    cell_section: &Section,
    group: &str,
    cell: &Cell,
) -> Result<Station, Refused> {
    let tables = [section, cell_section];
    let own = StationTable::read(&Layers(&[section]))?;
    let of_cell = Layers(&[cell_section]).value(Cell::rate)?;
    let of_ap = Layers(&[cell_section]).inside(Cell::ap);
    let of_ap = of_ap.layers().value(crate::mac::ApTable::rate)?;
    let usual = Preset::of(cell.phy.kind).rate_bps;
    let rate_bps = own.rate.or(of_cell).unwrap_or(usual);
    let queue = match QueueSetting::at(section, StationTable::queue)? {
        Some(queue) => queue,
        None => QueueSetting::nearest(&Layers(&[cell_section]), Cell::queue)?,
    };
    let mut station = Station {
        name: group.to_owned(),
        group: group.to_owned(),
        rate_bps,
        downlink_rate_bps: own.downlink_rate.or(of_ap).unwrap_or(rate_bps),
        node: Node::read(&Layers(&tables), cell.phy.kind, queue)?,
        channel: Channel::read(&[section])?,
        channel_changes: Channel::changes(section)?,
    };
    let tcp = flows::tcp_of(root, section, None)?;
    let data_bytes = cell.frame_bytes(tcp.mss_bytes + tcp.header_bytes);
    let ack_bytes = cell.frame_bytes(tcp.header_bytes);
    let rates = (station.rate_bps, station.downlink_rate_bps);
    let changes = station.channel_changes.iter_mut();
    let later = changes.map(|change| &mut change.channel);
    for channel in std::iter::once(&mut station.channel).chain(later) {
        channel.hear_noise(rates, data_bytes, ack_bytes);
    }
    Ok(station)
}

/// Delays the k-th flow by k times the stagger; each must begin before its stop and the end.
fn stagger(
    root: &Section,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let Some(stagger) = root.said(RootKeys::stagger) else {
        return Ok(());
    };
    for (k, flow) in scenario.flows.iter_mut().enumerate() {
        let unstaggered = flow.start;
        let delay = stagger.value.0.saturating_mul(k as u64);
        flow.start = Span(unstaggered.0.saturating_add(delay));
        let end = flow
            .stop
            .unwrap_or(scenario.duration)
            .min(scenario.duration);
        if flow.start < end {
            continue;
        }
        let message = format!(
            "flow `{}` would start at {}; allowed is before its end at {}",
            flow.name,
            units::show(flow.start.0, TIME),
            units::show(end.0, TIME)
        );
        let own = start_of(root, &scenario.stations, flow);
        let (origin, path) = match own.filter(|_| unstaggered >= end) {
            Some(start) => (start.origin, start.path.clone()),
            None => (stagger.origin, stagger.path.clone()),
        };
        return Err(problems.add(origin, &path, message));
    }
    Ok(())
}
