//! What the access settings of a node must satisfy together.

use super::ppdu_checks::{self, Own};
use super::presets::Preset;
use super::settings::{
    AIFSN_EXPECTED, Access, ApTable, Category, Cell, ColliderWait, Contention, Phy, Usual,
};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::units::{self, TIME};
use crate::queue::QueueSetting;

impl Cell {
    /// Checks the table of a cell, all but its stations.
    pub(crate) fn check(cell: &Section, problems: &mut Problems) {
        let Some(ap) = cell.inside(Cell::ap) else {
            return;
        };
        check_windows(&[cell], false, problems);
        check_windows(&[ap, cell], true, problems);
        if let (Some(_), Some(long)) = (cell.inside(Cell::ap_queue), ap.inside(ApTable::queue)) {
            let message = "repeats `cell.ap_queue`; expected one of the two".to_owned();
            problems.add(long.origin, &long.path, message);
        }
        QueueSetting::check(cell, Cell::ap_queue, problems);
        QueueSetting::check(cell, Cell::queue, problems);
        QueueSetting::check(ap, ApTable::queue, problems);
        let Some(phy) = cell.said(Phy::kind) else {
            return;
        };
        ppdu_checks::check_cell(cell, problems);
        let sifs = cell.said(Phy::sifs).map(|said| said.value);
        let sifs = sifs.unwrap_or(Preset::of(phy.value).sifs);
        if let Some(timeout) = cell.said(Cell::ack_timeout)
            && timeout.value.is_some_and(|span| span <= sifs)
        {
            let message = format!(
                "{} ends before an ACK begins; expected more than the SIFS of {}",
                timeout.shown,
                units::show(sifs.0, TIME)
            );
            problems.add(timeout.origin, &timeout.path, message);
        }
        if let Some(wait) = cell.said(Cell::collider_wait)
            && wait.value == ColliderWait::Eifs
            && cell
                .said(Cell::ack_timeout)
                .is_some_and(|timeout| timeout.value.is_none())
        {
            let message = "\"eifs\" is without effect where all nodes wait for EIFS; expected \"aifs\", or an \
                           ack_timeout";
            problems.add(wait.origin, &wait.path, message.to_owned());
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

/// CWmin must not be above CWmax, in any category. A node answers for it only if its own tables give one of
/// the two; the complaint is about the value in the nearest table that gives one.
fn check_windows(node: &[&Section], at_ap: bool, problems: &mut Problems) {
    let cell = &node[node.len() - 1..];
    let Ok(usual) = Usual::of(&Layers(cell), at_ap) else {
        return; // there has been a complaint
    };
    let gives = |table: &&&Section| {
        table.said(Contention::cwmin).is_some() || table.said(Contention::cwmax).is_some()
    };
    for category in Category::ALL {
        let tables = Access::tables(node, category);
        let Ok(Access { cwmin, cwmax, .. }) = Access::read(node, usual, category) else {
            continue; // there has been a complaint
        };
        let Some(nearest) = tables.iter().find(gives) else {
            continue;
        };
        let has_a_say = gives(&&node[0]) || tables.first().is_some_and(|own| gives(&own));
        if cwmin <= cwmax || !has_a_say {
            continue;
        }
        let place = match tables.first() {
            Some(own) if own.path == nearest.path => String::new(),
            _ => format!(" in `{}`", node[0].path),
        };
        if let Some(entry) = nearest.said(Contention::cwmin) {
            let allowed = format!("expected a whole number from 0 to {cwmax}");
            let message = format!("{cwmin} is above cwmax{place}; {allowed}");
            problems.add(entry.origin, &entry.path, message);
        } else if let Some(entry) = nearest.said(Contention::cwmax) {
            let allowed = format!("expected a whole number from {cwmin} to 32767");
            let message = format!("{cwmax} is below cwmin{place}; {allowed}");
            problems.add(entry.origin, &entry.path, message);
        }
    }
}

/// PIFS is for the access point. A problem of a value that several stations share is told once.
fn check_aifsns(station: &[&Section], problems: &mut Problems) {
    for category in Category::ALL {
        let tables = Access::tables(station, category);
        let Some(entry) = Layers(&tables).said(Contention::aifsn) else {
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
