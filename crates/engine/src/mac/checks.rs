//! Checks of access settings that depend on other settings.

use super::access::AIFSN_EXPECTED;
use super::ppdu_checks::{self};
use super::{
    Access, AccessDefaults, ApTable, Category, Cell, ColliderWait, Contention, Own, Phy, Preset,
};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::units::{self, TIME};
use crate::queue::QueueSetting;

impl Cell {
    /// Checks the access settings in the table of a cell, without its stations.
    pub(crate) fn check(cell: &Section, problems: &mut Problems) {
        let Some(ap) = cell.inside(Cell::ap) else {
            return;
        };
        check_windows(&[cell], false, problems);
        check_windows(&[ap, cell], true, problems);
        if let (Some(_), Some(long)) = (cell.inside(Cell::ap_queue), ap.inside(ApTable::queue)) {
            long.refuse("repeats `cell.ap_queue`; expected one of the two", problems);
        }
        QueueSetting::check(cell, Cell::ap_queue, problems);
        QueueSetting::check(cell, Cell::queue, problems);
        QueueSetting::check(ap, ApTable::queue, problems);
        let Some(phy) = cell.located(Phy::kind) else {
            return;
        };
        ppdu_checks::check_cell(cell, problems);
        let sifs = cell.value(Phy::sifs);
        let sifs = sifs.unwrap_or(Preset::of(phy.value).sifs);
        let timeout = cell.located(Cell::ack_timeout);
        if let Some(timeout) = &timeout
            && timeout.value.is_some_and(|span| span <= sifs)
        {
            let sifs = units::show(sifs.0, TIME);
            let fault = format!("ends before an ACK begins; expected more than the SIFS of {sifs}");
            timeout.refuse_value(fault, problems);
        }
        if let Some(wait) = cell.located(Cell::collider_wait)
            && wait.value == ColliderWait::Eifs
            && timeout.is_some_and(|timeout| timeout.value.is_none())
        {
            let message = "\"eifs\" is without effect where all nodes wait for EIFS; expected \"aifs\", or an \
                           ack_timeout";
            wait.refuse(message, problems);
        }
    }

    /// Checks the access settings of a station in a cell.
    pub(crate) fn check_station(
        station: &Section,
        cell: &Section,
        own: Own,
        problems: &mut Problems,
    ) {
        ppdu_checks::check_station(station, cell, own, problems);
        check_windows(&[station, cell], false, problems);
        check_aifsns(&[station, cell], problems);
    }
}

/// Checks that CWmin is not above CWmax in any category. Only nodes that set CWmin or CWmax in
/// their own tables are checked. The problem is reported at the first table that sets CWmin or
/// CWmax.
fn check_windows(node: &[&Section], at_ap: bool, problems: &mut Problems) {
    let cell = &node[node.len() - 1..];
    let Ok(defaults) = AccessDefaults::of(&Layers(cell), at_ap) else {
        return; // the refused value has been reported
    };
    let sets = |table: &Section| {
        table.located(Contention::cwmin).is_some() || table.located(Contention::cwmax).is_some()
    };
    for category in Category::ALL {
        let tables = Access::tables(node, category);
        let Ok(Access { cwmin, cwmax, .. }) = Access::read(node, defaults, category) else {
            continue; // the refused value has been reported
        };
        let Some(nearest) = tables.iter().find(|table| sets(table)) else {
            continue;
        };
        let is_its_own = sets(node[0]) || tables.first().is_some_and(|own| sets(own));
        if cwmin <= cwmax || !is_its_own {
            continue;
        }
        let place = match tables.first() {
            Some(own) if own.path == nearest.path => String::new(),
            Some(_) | None => format!(" in `{}`", node[0].path),
        };
        if let Some(entry) = nearest.located(Contention::cwmin) {
            let allowed = format!("expected a whole number from 0 to {cwmax}");
            let message = format!("{cwmin} is above cwmax{place}; {allowed}");
            entry.refuse(message, problems);
        } else if let Some(entry) = nearest.located(Contention::cwmax) {
            let allowed = format!("expected a whole number from {cwmin} to 32767");
            let message = format!("{cwmax} is below cwmin{place}; {allowed}");
            entry.refuse(message, problems);
        }
    }
}

/// Checks that no station has an AIFSN of 1 (PIFS), which only the access point may use. If several
/// stations share the value, the problem is reported once.
fn check_aifsns(station: &[&Section], problems: &mut Problems) {
    for category in Category::ALL {
        let tables = Access::tables(station, category);
        let Some(entry) = Layers(&tables).located(Contention::aifsn) else {
            continue;
        };
        if entry.value != Some(1) || problems.concern(&entry.path) {
            continue;
        }
        let message = format!(
            "{} is too small for a station; expected {AIFSN_EXPECTED}",
            entry.shown
        );
        let hint = "`cell.ap` has an `aifsn` of its own".to_owned();
        problems.add_with_hint(entry.origin, &entry.path, message, Some(hint));
    }
}
