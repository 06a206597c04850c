//! The classes of virtual buffer sharing in the access point's queue: checks of their settings, and
//! the assignment of flows to classes.

use super::model::*;
use super::root::RootKeys;
use crate::mac::ApTable;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, did_you_mean, one_line};
use crate::notation::setting::FileTable;
use crate::queue::{Alike, ApQueue, sharing_targets};

/// Returns the table of virtual buffer sharing of the access point's queue, if the file has one.
fn table(root: &Section) -> Option<&Section> {
    let cell = root.inside(RootKeys::cell)?;
    let own = cell
        .inside(Cell::ap)
        .and_then(|ap| ap.inside(ApTable::queue));
    own.or_else(|| cell.inside(Cell::ap_queue))?
        .inside(ApQueue::vbs)
}

/// Checks the values in the table of virtual buffer sharing, before the flows are created.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    if let Some(sharing) = table(root) {
        SharingSetting::check(sharing, problems);
    }
}

/// Sets the classes of the access point's queue in the scenario, if the file uses virtual buffer
/// sharing.
pub(super) fn assemble(root: &Section, scenario: &mut Scenario, problems: &mut Problems) {
    let ap = &scenario.only_bss().cell.ap;
    let Discipline::BufferSharing(_) = ap.queue.discipline else {
        return;
    };
    let Some(sharing) = table(root) else {
        return;
    };
    let mut classes = match sharing.value(SharingSetting::by).flatten() {
        Some(by) => alike(by, scenario),
        None => named(sharing, scenario, problems),
    };
    sharing_targets(&mut classes);
    scenario.bss[0].cell.sharing_classes = classes;
    check_categories(sharing, scenario, problems);
}

/// Checks that the flows of all classes have the same access category. Each category has a separate
/// queue, and the classes must share one.
fn check_categories(sharing: &Section, scenario: &Scenario, problems: &mut Problems) {
    let classes = scenario.only_bss().cell.sharing_classes.iter();
    let flows = classes.flat_map(|class| &class.flows);
    let used: Vec<Category> = flows
        .map(|&flow| scenario.flows[flow as usize].category)
        .collect();
    let in_order = Category::ALL.into_iter();
    let names: Vec<&str> = in_order
        .filter(|category| used.contains(category))
        .map(Category::name)
        .collect();
    if names.len() < 2 {
        return;
    }
    let message = format!(
        "its classes have flows of several access categories ({}), each with a queue of its own at \
         the access point; expected classes of one category",
        names.join(", ")
    );
    sharing.refuse(message, problems);
}

/// Returns classes with equal target shares: one per station, per group of stations, or per
/// direction.
fn alike(by: Alike, scenario: &Scenario) -> Vec<SharingClass> {
    let mut classes: Vec<SharingClass> = Vec::new();
    for (index, flow) in (0..).zip(&scenario.flows) {
        let Ends::Station { station, direction } = flow.ends else {
            continue;
        };
        let station = &scenario.stations[station];
        let name = match (by, direction) {
            (Alike::Station, _) => &station.name,
            (Alike::Group, _) => &station.group,
            (Alike::Direction, direction) => direction.name(),
        };
        match classes.iter_mut().find(|class| class.name == name) {
            Some(class) => class.flows.push(index),
            None => classes.push(SharingClass {
                name: name.to_owned(),
                share: 0.0,
                target: 0.0,
                flows: vec![index],
            }),
        }
    }
    let share = 1.0 / classes.len() as f64;
    classes.iter_mut().for_each(|class| class.share = share);
    classes
}

/// Returns the classes that the file defines. Each flow is assigned to the first class whose
/// conditions it meets.
fn named(sharing: &Section, scenario: &Scenario, problems: &mut Problems) -> Vec<SharingClass> {
    let mut taken = vec![false; scenario.flows.len()];
    let mut classes = Vec::new();
    for (name, class) in sharing.tables(SharingSetting::class) {
        if !knows_its_station(class, scenario, problems) {
            continue;
        }
        let Ok(conditions) = SharingClassTable::read(&Layers(&[class])) else {
            continue;
        };
        let mut flows = Vec::new();
        for (index, flow) in (0..).zip(&scenario.flows) {
            if !taken[index as usize] && takes(&conditions, flow, scenario) {
                taken[index as usize] = true;
                flows.push(index);
            }
        }
        if flows.is_empty() {
            let message = "no flow is in this class; expected a class with at least one flow that \
                           no earlier class contains";
            class.refuse(message, problems);
        }
        classes.push(SharingClass {
            name: name.clone(),
            share: conditions.share,
            target: 0.0,
            flows,
        });
    }
    classes
}

fn knows_its_station(class: &Section, scenario: &Scenario, problems: &mut Problems) -> bool {
    let Some(entry) = class.present(SharingClassTable::station) else {
        return true;
    };
    let name = entry.value.as_str();
    let known = |station: &Station| station.name == name || station.group == name;
    if scenario.stations.iter().any(known) {
        return true;
    }
    let mut groups: Vec<&str> = scenario.stations.iter().map(|s| s.group.as_str()).collect();
    groups.dedup();
    let message = format!(
        "{} is no station; expected {}, or one of their stations",
        entry.shown,
        one_line(&groups.join(", "), 200)
    );
    let hint = did_you_mean(name, groups);
    entry.refuse_with_hint(message, hint, problems);
    false
}

/// Returns whether `flow` meets all conditions of the class `class`.
fn takes(class: &SharingClassTable, flow: &Flow, scenario: &Scenario) -> bool {
    let Ends::Station { station, direction } = flow.ends else {
        return false;
    };
    let station = &scenario.stations[station];
    let error = station.channel.error_up.max(station.channel.error_down);
    let named = |name: &String| station.name == *name || station.group == *name;
    class.station.as_ref().is_none_or(named)
        && class.direction.is_none_or(|own| own == direction)
        && class.error_from.is_none_or(|least| error >= least)
        && class.error_below.is_none_or(|bound| error < bound)
}
