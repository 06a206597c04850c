//! What the settings of 802.11n, ac and ax must satisfy together.

use super::aggregation::AggregationKeys;
use super::ppdu::{Coding, Generation, Modulation};
use super::ppdu_settings::{Band, PpduKeys, Ppdus, StreamKeys, Width};
use super::presets::Preset;
use super::settings::{ApTable, Category, Cell, NodeAccess, Phy, PhyKind, QueueOrder, Voice};
use crate::kernel::time::Span;
use crate::notation::decode::{Said, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::setting::{KeyOf, keys};
use crate::notation::units::{self, TIME};
use crate::queue::ApQueue;

/// Checks the table of a cell, all but its stations.
pub(super) fn check_cell(cell: &Section, problems: &mut Problems) {
    let Some(phy) = cell.said(Phy::kind) else {
        return;
    };
    let ap = cell.inside(Cell::ap);
    let Some(generation) = phy.value.generation() else {
        let of_ap = ap.and_then(|ap| ap.inside(ApTable::queue));
        for queue in cell.inside(Cell::ap_queue).into_iter().chain(of_ap) {
            refuse_mac80211(queue, phy.value, problems);
        }
        return refuse_all(cell, problems);
    };
    check_channel(cell, generation, problems);
    check_symbols(cell, generation, problems);
    let of_ap = cell.inside(Cell::ap);
    for table in std::iter::once(cell).chain(of_ap) {
        check_aggregation(table, generation, problems);
    }
    if let Some(control) = cell.said(Cell::rate_control)
        && !control.value.supports_ppdus()
    {
        let fault = "chooses among the rates of 802.11a, b and g; expected \"fixed\"";
        let hint = "a station with `snr` and without `mcs` has the best MCS for it".to_owned();
        let message = format!("{} {fault}", control.shown);
        problems.add_with_hint(control.origin, &control.path, message, Some(hint));
    }
    let of_ap = of_ap.and_then(|ap| ap.given(ApTable::rate.name()));
    for entry in cell.given(Cell::rate.name()).into_iter().chain(of_ap) {
        refuse_rate(entry, phy.value, problems);
    }
    if let Some(ap) = cell.inside(Cell::ap)
        && let Some(order) = ap.said(ApTable::queue_order)
        && order.value == QueueOrder::Mixed
    {
        let fault = "would split aggregates; expected \"fifo\" in a cell that aggregates";
        refuse(&order, fault, problems);
    }
}

/// The queue of a Linux access point hands over packets for aggregates.
fn refuse_mac80211(queue: &Section, phy: PhyKind, problems: &mut Problems) {
    if let Some(own) = queue.inside(ApQueue::mac80211) {
        let message = format!(
            "the queue of mac80211 needs a device that aggregates, and {} has no aggregates; \
             accepted with phy \"802.11n\", \"802.11ac\" or \"802.11ax\"",
            phy.name()
        );
        let hint = format!(
            "`{} = {{ fq_codel = {{}} }}` has the same flow queues and CoDel",
            queue.path
        );
        problems.add_with_hint(own.origin, &own.path, message, Some(hint));
    }
}

/// Keys of 802.11n, ac and ax in another cell.
fn refuse_all(cell: &Section, problems: &mut Problems) {
    let keys = keys!(
        PpduKeys: band, width, guard_interval, ltf, packet_padding, coding, durations, eifs, edca, rts_longer_than;
        StreamKeys: mcs, streams
    );
    for entry in keys.into_iter().filter_map(|key| cell.given(key)) {
        let fault = "this key is only for cells that aggregate; accepted with phy \"802.11n\", \
                     \"802.11ac\" or \
                     \"802.11ax\"";
        entry.refuse(fault, problems);
    }
    let tables = [Some(cell), cell.inside(Cell::ap)];
    for table in tables.into_iter().flatten() {
        refuse_aggregation(table, problems);
    }
}

/// The tables `aggregation` of a node: its own, and those of its categories.
fn aggregations(table: &Section) -> impl Iterator<Item = &Section> {
    let categories = Category::ALL.into_iter();
    let categories = categories.filter_map(|category| table.table(category.name()));
    let inside = categories.filter_map(|own| own.inside(Voice::aggregation));
    table
        .inside(NodeAccess::aggregation)
        .into_iter()
        .chain(inside)
}

fn refuse_aggregation(table: &Section, problems: &mut Problems) {
    for own in aggregations(table).filter(|own| own.given) {
        let message = "this cell cannot send aggregates; accepted with phy \"802.11n\", \
                       \"802.11ac\" or \
                       \"802.11ax\"";
        own.refuse(message, problems);
    }
}

fn refuse_rate(entry: &crate::notation::decode::Entry, phy: PhyKind, problems: &mut Problems) {
    let message = format!(
        "{} is a rate, but in {} the rate follows from mcs, streams and width; accepted at \
         stations of 802.11a and g",
        entry.shown,
        phy.name()
    );
    let hint = "set `mcs` and `streams`, or `snr`".to_owned();
    problems.add_with_hint(entry.origin, &entry.path, message, Some(hint));
}

fn refuse<T>(said: &Said<'_, T>, fault: impl std::fmt::Display, problems: &mut Problems) {
    problems.add(said.origin, &said.path, format!("{} {fault}", said.shown));
}

/// Band and width.
fn check_channel(cell: &Section, generation: Generation, problems: &mut Problems) {
    let band = cell.said(PpduKeys::band);
    let chosen = band.as_ref().and_then(|said| said.value);
    let chosen = chosen.unwrap_or(Band::Ghz5);
    let allowed = match (generation, chosen) {
        (Generation::Vht, Band::Ghz2_4 | Band::Ghz6) => {
            Some("is no band of 802.11ac; expected \"5 GHz\"")
        }
        (Generation::Ht, Band::Ghz6) => {
            Some("is no band of 802.11n; expected one of \"2.4 GHz\", \"5 GHz\"")
        }
        _ => None,
    };
    if let (Some(band), Some(fault)) = (&band, allowed) {
        return refuse(band, fault, problems);
    }
    let narrow = generation == Generation::Ht || chosen == Band::Ghz2_4;
    let width = cell.said(PpduKeys::width);
    let usual = if narrow { Width::Mhz20 } else { Width::Mhz80 };
    let wide = width.as_ref().and_then(|said| said.value).unwrap_or(usual) != Width::Mhz20;
    if let Some(coding) = cell.said(PpduKeys::coding)
        && (generation, coding.value, wide) == (Generation::He, Some(Coding::Bcc), true)
    {
        let fault =
            "is a code of 802.11ax only at 20 MHz; expected \"ldpc\", or `width` = \"20 MHz\"";
        return refuse(&coding, fault, problems);
    }
    if let Some(width) = width
        && narrow
        && matches!(width.value, Some(Width::Mhz80 | Width::Mhz160))
    {
        let place = match generation {
            Generation::Ht => "in 802.11n",
            _ => "at 2.4 GHz",
        };
        let fault = format!("is too wide {place}; expected one of \"20 MHz\", \"40 MHz\"");
        refuse(&width, fault, problems);
    }
}

/// Guard interval, training field, padding.
fn check_symbols(cell: &Section, generation: Generation, problems: &mut Problems) {
    let he = generation == Generation::He;
    let guard = cell.said(PpduKeys::guard_interval);
    let allowed: &[u64] = if he {
        &[800, 1_600, 3_200]
    } else {
        &[400, 800]
    };
    if let Some(guard) = &guard
        && guard.value.is_some_and(|span| !allowed.contains(&span.0))
    {
        let fault = match he {
            true => "is no guard interval of 802.11ax; expected 0.8, 1.6 or 3.2 us",
            false => "is no guard interval of 802.11n and ac; expected 0.4 or 0.8 us",
        };
        return refuse(guard, fault, problems);
    }
    let ltf = cell.said(PpduKeys::ltf);
    let padding = cell.said(PpduKeys::packet_padding);
    for said in [&ltf, &padding].into_iter().flatten() {
        if !he && said.value.is_some() {
            refuse(
                said,
                "is set, but this key is only for 802.11ax; accepted with phy \
                          \"802.11ax\"",
                problems,
            );
            return;
        }
    }
    if let Some(padding) = padding
        && padding
            .value
            .is_some_and(|span| ![0, 8_000, 16_000].contains(&span.0))
    {
        refuse(
            &padding,
            "is no packet padding; expected 0, 8 or 16 us",
            problems,
        );
    }
    let Some(ltf) = ltf else { return };
    let Some(length) = ltf.value else { return };
    let gi = guard.as_ref().and_then(|said| said.value);
    let gi = gi.unwrap_or(Span(800));
    let fits = matches!(
        (length.0, gi.0),
        (3_200, 800) | (6_400, 800 | 1_600) | (12_800, 800 | 3_200)
    );
    if !fits {
        let fault = format!(
            "does not go with a guard interval of {}; expected 3.2 us with 0.8 us, 6.4 us with \
             0.8 or 1.6 us, 12.8 us with 0.8 or 3.2 us",
            units::show(gi.0, TIME)
        );
        refuse(&ltf, fault, problems);
    }
}

fn check_aggregation(table: &Section, generation: Generation, problems: &mut Problems) {
    let phy = match generation {
        Generation::Ht => "802.11n",
        Generation::Vht => "802.11ac",
        Generation::He => "802.11ax",
    };
    let keys = [
        (
            AggregationKeys::mpdus,
            generation.most_mpdus(),
            "the MPDUs of a PPDU",
            "",
        ),
        (
            AggregationKeys::bytes,
            generation.longest_ampdu(),
            "an A-MPDU",
            " B",
        ),
        (
            AggregationKeys::amsdu,
            generation.longest_amsdu(),
            "an A-MSDU",
            " B",
        ),
    ];
    let all = aggregations(table).flat_map(|own| keys.map(|key| (own, key)));
    for (own, (key, most, of, unit)) in all {
        let Some(said) = own.said(key) else { continue };
        if said.value.is_some_and(|value| value > most) {
            let fault = format!(
                "is more than {phy} allows for {of}; expected at most \
                                 {most}{unit}"
            );
            refuse(&said, fault, problems);
        }
    }
}

/// Checks the physical layer of a station.
pub(super) fn check_station(station: &Section, cell: &Section, own: Own, problems: &mut Problems) {
    let Some(of_cell) = cell.said(Phy::kind) else {
        return;
    };
    let Ok(Some(ppdus)) = Ppdus::read(&Layers(&[cell])) else {
        if of_cell.value.generation().is_none() {
            refuse_at_station(station, of_cell.value, &own, problems);
        }
        return;
    };
    let keys = keys!(PpduKeys: band, width, guard_interval, ltf, packet_padding, coding);
    if keys
        .into_iter()
        .any(|key| problems.concern(&cell.path(key)))
    {
        return; // what follows from them would confuse
    }
    let phy = match &own.phy {
        Some(said) => said.value.unwrap_or(of_cell.value),
        None => of_cell.value,
    };
    let modulation = phy.generation().and_then(|one| ppdus.of_generation(one));
    let allowed = allowed_phys(&ppdus);
    if let Some(said) = &own.phy
        && !allowed.contains(&format!("\"{}\"", phy.name()))
    {
        let fault = format!(
            "is not accepted for a station of {}; expected one of {allowed}",
            cell_of(&ppdus)
        );
        return refuse(said, fault, problems);
    }
    let Some(modulation) = modulation else {
        refuse_streams(station, phy, problems);
        refuse_aggregation(station, problems);
        for said in own.rates.into_iter().filter_map(|key| station.said(key)) {
            let rates = Preset::of(phy).rates;
            if said.value.is_some_and(|rate| !rates.contains(&rate)) {
                let allowed = units::show_rates(rates);
                let fault = format!("is no rate of {}; expected one of {allowed}", phy.name());
                refuse(&said, fault, problems);
            }
        }
        return;
    };
    check_aggregation(station, modulation.generation, problems);
    for entry in own
        .rates
        .into_iter()
        .filter_map(|key| station.given(key.name()))
    {
        refuse_rate(entry, phy, problems);
    }
    check_streams(&[station, cell], modulation, phy, problems);
}

/// What a station's own table says of its physical layer.
pub(crate) struct Own<'a> {
    /// Its key `phy`.
    pub(crate) phy: Option<Said<'a, Option<PhyKind>>>,
    /// Its keys of rates.
    pub(crate) rates: [KeyOf<Option<u64>>; 2],
}

/// A station in a cell without aggregates.
fn refuse_at_station(station: &Section, of_cell: PhyKind, own: &Own, problems: &mut Problems) {
    if let Some(said) = &own.phy
        && said.value.is_some_and(|phy| phy != of_cell)
    {
        let fault = format!(
            "is not the phy of the cell; expected \"{}\", or a cell of 802.11n, ac or ax",
            of_cell.name()
        );
        refuse(said, fault, problems);
    }
    refuse_streams(station, of_cell, problems);
    refuse_aggregation(station, problems);
}

fn refuse_streams(station: &Section, phy: PhyKind, problems: &mut Problems) {
    let keys = keys!(StreamKeys: mcs, streams);
    for entry in keys.into_iter().filter_map(|key| station.given(key)) {
        let fault = format!(
            "this key is only for 802.11n, ac and ax; expected `rate` instead at a station of {}",
            phy.name()
        );
        entry.refuse(fault, problems);
    }
}

/// MCS and streams that go together; a problem of values that several stations share is told once.
fn check_streams(tables: &[&Section], one: Modulation, phy: PhyKind, problems: &mut Problems) {
    let layers = Layers(tables);
    let streams = layers.said(StreamKeys::streams);
    let mcs = layers.said(StreamKeys::mcs);
    let of = one.generation;
    let count = streams.as_ref().and_then(|said| said.value).unwrap_or(1);
    let most = of.most_streams();
    if let Some(said) = &streams
        && count > most
    {
        if !problems.concern(&said.path) {
            let fault = format!(
                "is more streams than {} has; expected 1 to {most}",
                phy.name()
            );
            refuse(said, fault, problems);
        }
        return;
    }
    let one = Modulation {
        streams: count,
        ..one
    };
    let highest = one.highest_mcs();
    let lowest = Modulation { mcs: 0, ..one };
    if let Some(said) = &streams
        && !lowest.is_allowed()
        && one.coding == Coding::Bcc
        && of == Generation::He
    {
        if !problems.concern(&said.path) {
            let fault = "is more streams than the code \"bcc\" has in 802.11ax; expected 1 to 4";
            refuse(said, fault, problems);
        }
        return;
    }
    let Some(said) = &mcs else { return };
    let Some(mcs) = said.value else { return };
    let chosen = Modulation { mcs, ..one };
    if mcs <= of.highest_mcs() && chosen.is_allowed() || problems.concern(&said.path) {
        return;
    }
    let width = one.width_mhz;
    let message = if mcs > of.highest_mcs() {
        let highest = of.highest_mcs();
        format!("{mcs} is no MCS of {}; expected 0 to {highest}", phy.name())
    } else if one.coding == Coding::Bcc && of == Generation::He {
        "needs the code \"ldpc\"; accepted with \"bcc\" are MCS 0 to 9 with up to 4 streams at \
         20 MHz"
            .to_owned()
    } else {
        let streams = if count == 1 { "stream" } else { "streams" };
        format!(
            "MCS {mcs} with {count} {streams} at {width} MHz does not exist in {}; expected \
             {highest}, or another width",
            phy.name()
        )
    };
    problems.add(said.origin, &said.path, message);
}

fn cell_of(ppdus: &Ppdus) -> String {
    let phy = match ppdus.modulation.generation {
        Generation::Ht => PhyKind::Dot11n,
        Generation::Vht => PhyKind::Dot11ac,
        Generation::He => PhyKind::Dot11ax,
    };
    format!("an {} cell at {}", phy.name(), ppdus.band.name())
}

/// Physical layers that stations of a cell may have.
fn allowed_phys(ppdus: &Ppdus) -> String {
    let legacy = match ppdus.band {
        Band::Ghz2_4 => Some(PhyKind::Dot11g),
        Band::Ghz5 => Some(PhyKind::Dot11a),
        Band::Ghz6 => None,
    };
    let aggregating = [PhyKind::Dot11n, PhyKind::Dot11ac, PhyKind::Dot11ax];
    let fits = |phy: &PhyKind| {
        let own = phy.generation().and_then(|one| ppdus.of_generation(one));
        let in_band = match phy {
            PhyKind::Dot11n => ppdus.band != Band::Ghz6,
            PhyKind::Dot11ac => ppdus.band == Band::Ghz5,
            _ => true,
        };
        own.is_some() && in_band
    };
    let all = legacy
        .into_iter()
        .chain(aggregating.into_iter().filter(fits));
    let quoted: Vec<String> = all.map(|phy| format!("\"{}\"", phy.name())).collect();
    quoted.join(", ")
}
