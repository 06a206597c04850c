//! Checks of `[interface]` that concern several values together. A value that was refused before is
//! not checked again.

use std::collections::HashMap;

use lasthop_engine::notation::decode::{Located, Section};
use lasthop_engine::notation::problem::{Problems, one_line};
use lasthop_engine::queue::{ApQueue, QueueSetting, SharingClassTable, SharingSetting};

use super::settings::{InterfaceTable, MembersTable};
use crate::forms;

/// Maximum number of classes (`MOST_CLASSES` of crates/bpf/sharing.h).
const MAX_CLASSES: usize = 63;
/// Maximum number of addresses of one type, or of marks, in all classes (`MOST_MEMBERS` of
/// crates/bpf/sharing.bpf.c).
const MAX_MEMBERS: usize = 4_096;
/// Minimum rate of an interface, at which a full packet takes 12 s. [bit/s]
const MIN_BPS: u64 = 1_000;

/// Checks the conditions that several values must satisfy together.
pub(crate) fn check(interface: &Section, problems: &mut Problems) {
    check_rate(interface, problems);
    check_from(interface, problems);
    QueueSetting::check(interface, InterfaceTable::queue, problems);
    if let Some(sharing) = sharing(interface) {
        SharingSetting::check(sharing, problems);
        check_sharing(sharing, problems);
    }
    check_members(interface, problems);
}

/// Returns the table of virtual buffer sharing (`vbs`) in the interface's queue.
pub(super) fn sharing(interface: &Section) -> Option<&Section> {
    interface
        .inside(InterfaceTable::queue)?
        .inside(ApQueue::vbs)
}

fn check_rate(interface: &Section, problems: &mut Problems) {
    if let Some(rate) = interface.located(InterfaceTable::rate_bps)
        && rate.value.is_some_and(|bps| bps < MIN_BPS)
    {
        rate.refuse_value("is too low; expected 1 kbps up to 100 Gbps", problems);
    }
}

fn check_from(interface: &Section, problems: &mut Problems) {
    let name = interface.located(InterfaceTable::interface);
    let from = interface.located(InterfaceTable::from);
    let (Some(name), Some(from)) = (name, from.and_then(Located::present)) else {
        return;
    };
    if forms::words(&from.value).any(|word| word == name.value) {
        let fault = "contains `interface.name`; expected other interfaces";
        from.refuse_value(fault, problems);
    }
}

/// Refuses keys of virtual buffer sharing that have no meaning for an interface.
fn check_sharing(sharing: &Section, problems: &mut Problems) {
    if let Some(by) = sharing.located(SharingSetting::by)
        && by.value.is_some()
    {
        let fault = "is accepted in simulations only; expected tables \
                     [interface.queue.vbs.class.NAME], each with a share";
        by.refuse_value(fault, problems);
    }
    for (_, class) in sharing.tables(SharingSetting::class) {
        let keys = [
            SharingClassTable::station.name(),
            SharingClassTable::direction.name(),
            SharingClassTable::error_from.name(),
            SharingClassTable::error_below.name(),
        ];
        for key in keys {
            if let Some(entry) = class.given(key) {
                let fault = "is accepted in simulations only; set the members of a class of an \
                             interface in [interface.class.NAME]";
                entry.refuse_value(fault, problems);
            }
        }
    }
}

/// Checks that every class has members, by which its packets are recognised.
fn check_members(interface: &Section, problems: &mut Problems) {
    let classes = interface.tables(InterfaceTable::class);
    if let Some((_, last)) = classes.last()
        && classes.len() > MAX_CLASSES
    {
        let path = interface.path(InterfaceTable::class.name());
        let message = format!("{} tables; expected at most {MAX_CLASSES}", classes.len());
        problems.add(last.origin, &path, message);
    }
    let mut owners: HashMap<String, &str> = HashMap::new();
    for (name, class) in classes {
        class.check_name(name, problems);
        let address = class
            .located(MembersTable::address)
            .and_then(Located::present);
        let mac = class.located(MembersTable::mac).and_then(Located::present);
        let mark = class.located(MembersTable::mark).and_then(Located::present);
        let refused = class.lacks(MembersTable::address)
            || class.lacks(MembersTable::mac)
            || class.lacks(MembersTable::mark);
        if address.is_none() && mac.is_none() && mark.is_none() && !refused {
            let message = "has no member; expected one of address, mac, mark";
            class.refuse(message, problems);
        }
        let mut own: Vec<(String, String)> = Vec::new();
        let mut origins = Vec::new();
        for list in [&address, &mac].into_iter().flatten() {
            for word in forms::words(&list.value) {
                let subnet = forms::member(word).map(|subnet| subnet.to_string());
                if let Ok(same) = subnet.or_else(|_| forms::mac(word)) {
                    own.push((same, one_line(word, 40).to_string()));
                    origins.push((list.origin, list.path.clone()));
                }
            }
        }
        if let Some(mark) = &mark {
            own.push((format!("mark {}", mark.value), mark.value.to_string()));
            origins.push((mark.origin, mark.path.clone()));
        }
        for ((same, word), (origin, path)) in own.into_iter().zip(origins) {
            if let Some(other) = owners.insert(same, name) {
                let message = format!(
                    "`{word}` is also in `interface.class.{}`; expected each member in one class \
                     only",
                    one_line(other, 80)
                );
                problems.add(origin, &path, message);
            }
        }
    }
    if owners.len() > MAX_MEMBERS {
        let path = interface.path(InterfaceTable::class.name());
        let message = format!("{} members; expected at most {MAX_MEMBERS}", owners.len());
        problems.add(interface.origin, &path, message);
    }
}
