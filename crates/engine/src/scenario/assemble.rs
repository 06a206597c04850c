//! Assembles the [`Scenario`] from the decoded tables of a file without problems.

use super::flow_tables;
use super::model::*;
use super::root::{Root, RootKeys, StationTable};
use super::stations::{made_stations, member_names};
use super::tcp_defaults;
use super::{
    csma, file, flows, greedy, idle, network, opportunities, pings, programs, reach, sharing,
    writes,
};
use crate::echo::Echo;
use crate::kernel::time::Span;
use crate::mac::ppdu::Modulation;
use crate::mac::{AccessDefaults, Ppdus, Preset, SleepKeys, StreamKeys};
use crate::notation::decode::{Section, decode_table};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems, Refused};
use crate::notation::setting::FileTable;
use crate::notation::tree::{Data, Item};

/// Longest default warm-up. [ns]
const LONGEST_DEFAULT_WARMUP: Span = Span(20_000_000_000);

/// Returns the scenario of the file `source`.
///
/// # Errors
/// A problem has been reported.
pub(super) fn assemble(
    root: &Section,
    source: &str,
    problems: &mut Problems,
) -> Result<Scenario, Refused> {
    let top = Layers(&[root]);
    let duration = top.need(Root::duration)?;
    let keys = RootKeys::read(&top)?;
    let idle = idle_cell();
    let cell_section = root.inside(RootKeys::cell).unwrap_or(&idle);
    let cell = Cell::read(&Layers(&[cell_section]))?;
    let preset = Preset::of(cell.phy.kind);
    let default_warmup = Span(duration.0 / 10).min(LONGEST_DEFAULT_WARMUP);
    let made = made_stations(root);
    let stations = made.iter().map(|(_, names)| names.len()).sum();
    let mut scenario = Scenario {
        name: file::name(root, source)?,
        duration,
        warmup: keys.warmup.unwrap_or(default_warmup),
        replications: keys.replications,
        seed: keys.seed,
        bss: vec![Bss::only(cell, stations)],
        wire: Wire::read(&top.inside(RootKeys::wire).layers())?,
        bottleneck: match root.inside(RootKeys::bottleneck) {
            Some(bottleneck) => Some(BottleneckSettings::of(bottleneck, preset.rate_bps, &made)?),
            None => None,
        },
        stations: Vec::new(),
        links: Vec::new(),
        flows: Vec::new(),
        csma: None,
        record: Record::read(&top.inside(RootKeys::record).layers())?,
        tcp: TcpSettings::read(&top.inside(RootKeys::tcp).layers())?,
        tcp_defaults: tcp_defaults::of(root),
        udp: flow_tables::udp_of(root, None)?,
        programs: Vec::new(),
    };
    network::assemble(root, &mut scenario, problems)?;
    scenario.csma = csma::assemble(root, &scenario, problems)?;
    let wired = std::mem::take(&mut scenario.flows);
    for (group, section) in root.tables(RootKeys::station) {
        let cell = &scenario.only_bss().cell;
        let pattern = station(root, section, cell_section, group, cell)?;
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
    for k in 0..scenario.flows.len() {
        let start = flows::staggered(root, k, &scenario.flows[k], &scenario, problems)?;
        scenario.flows[k].start = start;
    }
    reach::check(root, &scenario, problems);
    opportunities::check(root, &scenario, problems);
    idle::check(root, &scenario, problems);
    flows::check_order(root, &scenario, problems);
    greedy::check(root, &scenario, problems);
    writes::check(root, &scenario, problems);
    pings::check_measured(root, &scenario, problems);
    sharing::assemble(root, &mut scenario, problems);
    programs::assemble(root, &mut scenario, problems);
    Ok(scenario)
}

/// Returns the table of a cell without stations, for a file that describes only a wired network.
fn idle_cell() -> Section {
    let origin = Origin::File;
    let item = |data| Item { origin, data };
    let phy = item(Data::Text(PhyKind::Dot11b.name().to_owned()));
    let cell = item(Data::Table(vec![(Phy::kind.name().to_owned(), phy)]));
    decode_table(&cell, Cell::table())
}

/// Returns a station with the settings of the table `section` and the name `group`. In a group of
/// several stations, the caller appends the number of the station to the name.
fn station(
    root: &Section,
    section: &Section,
    cell_section: &Section,
    group: &str,
    cell: &Cell,
) -> Result<Station, Refused> {
    let tables = [section, cell_section];
    let own = StationTable::read(&Layers(&[section]))?;
    let of_cell = Layers(&[cell_section]);
    let of_ap = of_cell.inside(Cell::ap);
    let of_ap = of_ap.layers().value(crate::mac::ApTable::rate)?;
    let phy = own.phy.unwrap_or(cell.phy.kind);
    let modulation = modulation(cell, phy, &Layers(&tables))?;
    let usual = Preset::of(phy).rate_bps;
    let usual = modulation.map_or(usual, |modulation| modulation.rate_bps());
    let rate_bps = own.rate.or(of_cell.value(Cell::rate)?).unwrap_or(usual);
    let queue = match QueueSetting::at(section, StationTable::queue)? {
        Some(queue) => queue,
        None => QueueSetting::nearest(&of_cell, Cell::queue)?,
    };
    let mut station = Station {
        name: group.to_owned(),
        group: group.to_owned(),
        rate_bps,
        downlink_rate_bps: own.downlink_rate.or(of_ap).unwrap_or(rate_bps),
        phy,
        modulation,
        mcs_by_snr: false,
        node: Node::read(
            &Layers(&tables),
            AccessDefaults::of(&of_cell, false)?,
            queue,
        )?,
        channel: Channel::read(&[section])?,
        channel_changes: Channel::changes(section)?,
        power_save: Layers(&[section]).need(SleepKeys::power_save)?,
        echo: Echo::read(section)?,
        echo_changes: Echo::changes(section)?,
    };
    let by_snr = Layers(&tables).value(StreamKeys::mcs)?.flatten().is_none();
    station.mcs_by_snr = modulation.is_some() && by_snr && station.hears_noise();
    let tcp = flow_tables::tcp_of(root, section, None)?;
    let data_bytes = cell.frame_bytes(tcp.mss_bytes + tcp.header_bytes);
    let ack_bytes = cell.frame_bytes(tcp.header_bytes);
    if let Some(modulation) = &mut station.modulation
        && let (true, Some(snr_db)) = (station.mcs_by_snr, station.channel.snr_db)
    {
        *modulation = modulation.best_for(snr_db);
        let rate_bps = modulation.rate_bps();
        (station.rate_bps, station.downlink_rate_bps) = (rate_bps, rate_bps);
    }
    let nominal = station.clone();
    let changes = station.channel_changes.iter_mut();
    let later = changes.map(|change| &mut change.channel);
    for channel in std::iter::once(&mut station.channel).chain(later) {
        channel.hear_noise(data_bytes, ack_bytes, |way, bytes, snr_db| {
            nominal.frame_error(way, bytes, snr_db)
        });
    }
    Ok(station)
}

/// Returns the modulation of data frames to and from a station; `None` if these frames are not
/// aggregated.
fn modulation(cell: &Cell, phy: PhyKind, layers: &Layers) -> Result<Option<Modulation>, Refused> {
    let of_phy = |ppdus: Ppdus| ppdus.of_generation(phy.generation()?);
    let Some(generation) = cell.ppdus.and_then(of_phy) else {
        return Ok(None);
    };
    let streams = layers.value(StreamKeys::streams)?.flatten().unwrap_or(1);
    let own = Modulation {
        streams,
        ..generation
    };
    let mcs = layers.value(StreamKeys::mcs)?.flatten();
    let mcs = mcs.unwrap_or_else(|| own.highest_mcs());
    Ok(Some(Modulation { mcs, ..own }))
}
