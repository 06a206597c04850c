//! Checks of the settings of 802.11n, ac and ax that depend on other settings.

use super::access::Voice;
use super::aggregation::AggregationKeys;
use super::ppdu::{Coding, Generation, Modulation};
use super::ppdu_keys::PpduKeys;
use super::{
    ApTable, Band, Category, Cell, NodeAccess, Phy, PhyKind, Ppdus, Preset, QueueOrder, StreamKeys,
    Width,
};
use crate::kernel::time::Span;
use crate::notation::decode::{Entry, Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::setting::{KeyOf, keys};
use crate::notation::units::{self, TIME};
use crate::queue::ApQueue;

/// Physical layers whose cells aggregate, in order of generation.
const AGGREGATING: [PhyKind; 3] = [PhyKind::Dot11n, PhyKind::Dot11ac, PhyKind::Dot11ax];

/// End of a message about a key: the physical layers with which the key is accepted.
const ACCEPTED: &str = "accepted with phy \"802.11n\", \"802.11ac\" or \"802.11ax\"";

/// Checks the 802.11n, ac and ax settings in the table of a cell, without its stations.
pub(super) fn check_cell(cell: &Section, problems: &mut Problems) {
    let Some(phy) = cell.located(Phy::kind) else {
        return;
    };
    let ap = cell.inside(Cell::ap);
    let tables = std::iter::once(cell).chain(ap);
    let Some(generation) = phy.value.generation() else {
        let of_ap = ap.and_then(|ap| ap.inside(ApTable::queue));
        for queue in cell.inside(Cell::ap_queue).into_iter().chain(of_ap) {
            refuse_mac80211(queue, phy.value, problems);
        }
        refuse_ppdu_keys(cell, problems);
        return tables.for_each(|table| refuse_aggregation(table, problems));
    };
    check_channel(cell, generation, problems);
    check_symbols(cell, generation, problems);
    for table in tables {
        check_aggregation(table, generation, problems);
    }
    if let Some(control) = cell.located(Cell::rate_control)
        && !control.value.supports_ppdus()
    {
        let fault = "chooses among the rates of 802.11a, b and g; expected \"fixed\"";
        let hint = "a station with `snr` and without `mcs` has the best MCS for it".to_owned();
        let message = format!("{} {fault}", control.shown);
        problems.add_with_hint(control.origin, &control.path, message, Some(hint));
    }
    let of_ap = ap.and_then(|ap| ap.given(ApTable::rate.name()));
    for entry in cell.given(Cell::rate.name()).into_iter().chain(of_ap) {
        refuse_rate(entry, phy.value, problems);
    }
    if let Some(order) = ap.and_then(|ap| ap.located(ApTable::queue_order))
        && order.value == QueueOrder::Mixed
    {
        let fault = "would split aggregates; expected \"fifo\" in a cell that aggregates";
        order.refuse_value(fault, problems);
    }
}

/// Refuses the queue of a Linux access point in a cell without aggregates, because this queue
/// requires a device that aggregates.
fn refuse_mac80211(queue: &Section, phy: PhyKind, problems: &mut Problems) {
    if let Some(own) = queue.inside(ApQueue::mac80211) {
        let message = format!(
            "the queue of mac80211 needs a device that aggregates, and {} has no aggregates; \
             {ACCEPTED}",
            phy.name()
        );
        let hint = format!(
            "`{} = {{ fq_codel = {{}} }}` has the same flow queues and CoDel",
            queue.path
        );
        problems.add_with_hint(own.origin, &own.path, message, Some(hint));
    }
}

/// Refuses the keys of 802.11n, ac and ax in a cell with another physical layer.
fn refuse_ppdu_keys(cell: &Section, problems: &mut Problems) {
    let keys = keys!(
        PpduKeys: band, width, guard_interval, ltf, packet_padding, coding, durations, eifs, edca, rts_longer_than;
        StreamKeys: mcs, streams
    );
    for entry in keys.into_iter().filter_map(|key| cell.given(key)) {
        let message = format!("this key is only for cells that aggregate; {ACCEPTED}");
        entry.refuse(message, problems);
    }
}

/// Returns the tables `aggregation` of a node and of its access categories.
fn aggregations(table: &Section) -> impl Iterator<Item = &Section> {
    let categories = Category::ALL.into_iter();
    let categories = categories.filter_map(|category| table.table(category.name()));
    let of_categories = categories.filter_map(|own| own.inside(Voice::aggregation));
    let of_node = table.inside(NodeAccess::aggregation).into_iter();
    of_node.chain(of_categories)
}

fn refuse_aggregation(table: &Section, problems: &mut Problems) {
    for own in aggregations(table).filter(|own| own.given) {
        own.refuse(
            format!("this cell cannot send aggregates; {ACCEPTED}"),
            problems,
        );
    }
}

fn refuse_rate(entry: &Entry, phy: PhyKind, problems: &mut Problems) {
    let message = format!(
        "{} is a rate, but in {} the rate follows from mcs, streams and width; accepted at \
         stations of 802.11a and g",
        entry.shown,
        phy.name()
    );
    let hint = "set `mcs` and `streams`, or `snr`".to_owned();
    problems.add_with_hint(entry.origin, &entry.path, message, Some(hint));
}

/// Checks the band and the channel width.
fn check_channel(cell: &Section, generation: Generation, problems: &mut Problems) {
    let band = cell.present(PpduKeys::band);
    let chosen = band.as_ref().map_or(Band::Ghz5, |band| band.value);
    let fault = match (generation, chosen) {
        (Generation::Vht, Band::Ghz2_4 | Band::Ghz6) => {
            Some("is no band of 802.11ac; expected \"5 GHz\"")
        }
        (Generation::Ht, Band::Ghz6) => {
            Some("is no band of 802.11n; expected one of \"2.4 GHz\", \"5 GHz\"")
        }
        (Generation::Ht, Band::Ghz2_4 | Band::Ghz5)
        | (Generation::Vht, Band::Ghz5)
        | (Generation::He, _) => None,
    };
    if let (Some(band), Some(fault)) = (&band, fault) {
        band.refuse_value(fault, problems);
        return;
    }
    let narrow = generation == Generation::Ht || chosen == Band::Ghz2_4;
    let width = cell.present(PpduKeys::width);
    let chosen = match &width {
        Some(width) => width.value,
        None if narrow => Width::Mhz20,
        None => Width::Mhz80,
    };
    if let Some(coding) = cell.located(PpduKeys::coding)
        && (generation, coding.value) == (Generation::He, Some(Coding::Bcc))
        && chosen != Width::Mhz20
    {
        let fault =
            "is a code of 802.11ax only at 20 MHz; expected \"ldpc\", or `width` = \"20 MHz\"";
        coding.refuse_value(fault, problems);
        return;
    }
    if let Some(width) = width
        && narrow
        && matches!(width.value, Width::Mhz80 | Width::Mhz160)
    {
        let place = match generation {
            Generation::Ht => "in 802.11n",
            Generation::Vht | Generation::He => "at 2.4 GHz",
        };
        let fault = format!("is too wide {place}; expected one of \"20 MHz\", \"40 MHz\"");
        width.refuse_value(fault, problems);
    }
}

/// Checks the guard interval, the training field and the padding.
fn check_symbols(cell: &Section, generation: Generation, problems: &mut Problems) {
    let he = generation == Generation::He;
    let guard = cell.present(PpduKeys::guard_interval);
    let (allowed, fault): (&[u64], _) = match he {
        true => (
            &[800, 1_600, 3_200],
            "is no guard interval of 802.11ax; expected 0.8, 1.6 or 3.2 us",
        ),
        false => (
            &[400, 800],
            "is no guard interval of 802.11n and ac; expected 0.4 or 0.8 us",
        ),
    };
    if let Some(guard) = &guard
        && !allowed.contains(&guard.value.0)
    {
        guard.refuse_value(fault, problems);
        return;
    }
    let ltf = cell.present(PpduKeys::ltf);
    let padding = cell.present(PpduKeys::packet_padding);
    if let Some(of_he) = ltf.as_ref().or(padding.as_ref())
        && !he
    {
        let fault = "is set, but this key is only for 802.11ax; accepted with phy \"802.11ax\"";
        of_he.refuse_value(fault, problems);
        return;
    }
    if let Some(padding) = padding
        && ![0, 8_000, 16_000].contains(&padding.value.0)
    {
        let fault = "is no packet padding; expected 0, 8 or 16 us";
        padding.refuse_value(fault, problems);
    }
    let guard = guard.map_or(Span(800), |guard| guard.value);
    if let Some(ltf) = ltf
        && !matches!(
            (ltf.value.0, guard.0),
            (3_200, 800) | (6_400, 800 | 1_600) | (12_800, 800 | 3_200)
        )
    {
        let fault = format!(
            "does not go with a guard interval of {}; expected 3.2 us with 0.8 us, 6.4 us with \
             0.8 or 1.6 us, 12.8 us with 0.8 or 3.2 us",
            units::show(guard.0, TIME)
        );
        ltf.refuse_value(fault, problems);
    }
}

/// Returns the physical layer of a generation.
fn phy_of(generation: Generation) -> PhyKind {
    AGGREGATING[generation as usize]
}

fn check_aggregation(table: &Section, generation: Generation, problems: &mut Problems) {
    let phy = phy_of(generation).name();
    let (mpdus, bytes) = (generation.most_mpdus(), generation.longest_ampdu());
    let amsdu = generation.longest_amsdu();
    let keys = [
        (AggregationKeys::mpdus, mpdus, "the MPDUs of a PPDU", ""),
        (AggregationKeys::bytes, bytes, "an A-MPDU", " B"),
        (AggregationKeys::amsdu, amsdu, "an A-MSDU", " B"),
    ];
    let all = aggregations(table).flat_map(|own| keys.map(|key| (own, key)));
    for (own, (key, most, part, unit)) in all {
        if let Some(limit) = own.present(key)
            && limit.value > most
        {
            let fault =
                format!("is more than {phy} allows for {part}; expected at most {most}{unit}");
            limit.refuse_value(fault, problems);
        }
    }
}

/// Checks the physical layer of a station.
pub(super) fn check_station(station: &Section, cell: &Section, own: Own, problems: &mut Problems) {
    let Some(of_cell) = cell.value(Phy::kind) else {
        return;
    };
    let Ok(Some(ppdus)) = Ppdus::read(&Layers(&[cell])) else {
        if of_cell.generation().is_none() {
            refuse_at_station(station, of_cell, &own, problems);
        }
        return;
    };
    let keys = keys!(PpduKeys: band, width, guard_interval, ltf, packet_padding, coding);
    let mut paths = keys.into_iter().map(|key| cell.path(key));
    if paths.any(|path| problems.concern(&path)) {
        return; // further problems that follow from these keys would confuse the user
    }
    let phy = own.phy.as_ref().and_then(|phy| phy.value);
    let phy = phy.unwrap_or(of_cell);
    let allowed = allowed_phys(&ppdus);
    if let Some(set) = &own.phy
        && !allowed.contains(&format!("\"{}\"", phy.name()))
    {
        let cell = phy_of(ppdus.modulation.generation).name();
        let fault = format!(
            "is not accepted for a station of an {cell} cell at {}; expected one of {allowed}",
            ppdus.band.name()
        );
        set.refuse_value(fault, problems);
        return;
    }
    let generation = phy.generation();
    let Some(modulation) = generation.and_then(|of| ppdus.of_generation(of)) else {
        refuse_streams(station, phy, problems);
        refuse_aggregation(station, problems);
        let rates = Preset::of(phy).rates;
        for set in own.rates.into_iter().filter_map(|key| station.present(key)) {
            if !rates.contains(&set.value) {
                let allowed = units::show_rates(rates);
                let fault = format!("is no rate of {}; expected one of {allowed}", phy.name());
                set.refuse_value(fault, problems);
            }
        }
        return;
    };
    check_aggregation(station, modulation.generation, problems);
    let rates = own.rates.into_iter();
    for entry in rates.filter_map(|key| station.given(key.name())) {
        refuse_rate(entry, phy, problems);
    }
    check_streams(&[station, cell], modulation, phy, problems);
}

/// Keys of the physical layer that a station sets in its own table.
pub(crate) struct Own<'a> {
    /// Key `phy`.
    pub(crate) phy: Option<Located<'a, Option<PhyKind>>>,
    /// Keys of the data rates.
    pub(crate) rates: [KeyOf<Option<u64>>; 2],
}

/// Refuses the settings of 802.11n, ac and ax at a station in a cell without aggregates.
fn refuse_at_station(station: &Section, of_cell: PhyKind, own: &Own, problems: &mut Problems) {
    if let Some(set) = &own.phy
        && set.value.is_some_and(|phy| phy != of_cell)
    {
        let fault = format!(
            "is not the phy of the cell; expected \"{}\", or a cell of 802.11n, ac or ax",
            of_cell.name()
        );
        set.refuse_value(fault, problems);
    }
    refuse_streams(station, of_cell, problems);
    refuse_aggregation(station, problems);
}

fn refuse_streams(station: &Section, phy: PhyKind, problems: &mut Problems) {
    let keys = keys!(StreamKeys: mcs, streams);
    for entry in keys.into_iter().filter_map(|key| station.given(key)) {
        let message = format!(
            "this key is only for 802.11n, ac and ax; expected `rate` instead at a station of {}",
            phy.name()
        );
        entry.refuse(message, problems);
    }
}

/// Checks that the standard allows the combination of MCS and streams. If several stations share
/// the values, the problem is reported once.
fn check_streams(tables: &[&Section], one: Modulation, phy: PhyKind, problems: &mut Problems) {
    let layers = Layers(tables);
    let of = one.generation;
    let is_bcc_in_he = one.coding == Coding::Bcc && of == Generation::He;
    let streams = layers
        .located(StreamKeys::streams)
        .and_then(Located::present);
    let count = streams.as_ref().map_or(1, |streams| streams.value);
    let modulation = Modulation {
        streams: count,
        ..one
    };
    if let Some(streams) = &streams {
        let most = of.most_streams();
        let lowest = Modulation {
            mcs: 0,
            ..modulation
        };
        let phy = phy.name();
        let fault = if count > most {
            Some(format!(
                "is more streams than {phy} has; expected 1 to {most}"
            ))
        } else if is_bcc_in_he && !lowest.is_allowed() {
            let code = "is more streams than the code \"bcc\" has in 802.11ax";
            Some(format!("{code}; expected 1 to 4"))
        } else {
            None
        };
        if let Some(fault) = fault {
            if !problems.concern(&streams.path) {
                streams.refuse_value(fault, problems);
            }
            return;
        }
    }
    let Some(set) = layers.located(StreamKeys::mcs).and_then(Located::present) else {
        return;
    };
    let mcs = set.value;
    let chosen = Modulation { mcs, ..modulation };
    let highest = of.highest_mcs();
    if mcs <= highest && chosen.is_allowed() || problems.concern(&set.path) {
        return;
    }
    let phy = phy.name();
    let message = if mcs > highest {
        format!("{mcs} is no MCS of {phy}; expected 0 to {highest}")
    } else if is_bcc_in_he {
        "needs the code \"ldpc\"; accepted with \"bcc\" are MCS 0 to 9 with up to 4 streams at \
         20 MHz"
            .to_owned()
    } else {
        let streams = if count == 1 { "stream" } else { "streams" };
        format!(
            "MCS {mcs} with {count} {streams} at {} MHz does not exist in {phy}; expected {}, or \
             another width",
            modulation.width_mhz,
            modulation.highest_mcs()
        )
    };
    set.refuse(message, problems);
}

/// Returns the names of the physical layers that stations of a cell may have, as a list for
/// messages.
fn allowed_phys(ppdus: &Ppdus) -> String {
    let legacy = match ppdus.band {
        Band::Ghz2_4 => Some(PhyKind::Dot11g),
        Band::Ghz5 => Some(PhyKind::Dot11a),
        Band::Ghz6 => None,
    };
    let is_in_band = |generation| match generation {
        Generation::Ht => ppdus.band != Band::Ghz6,
        Generation::Vht => ppdus.band == Band::Ghz5,
        Generation::He => true,
    };
    let generations = [Generation::Ht, Generation::Vht, Generation::He].into_iter();
    let allowed = generations
        .filter(|&generation| generation <= ppdus.modulation.generation && is_in_band(generation));
    let all = legacy.into_iter().chain(allowed.map(phy_of));
    let quoted: Vec<String> = all.map(|phy| format!("\"{}\"", phy.name())).collect();
    quoted.join(", ")
}
