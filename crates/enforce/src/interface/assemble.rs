//! Assembles the [`Interface`] from a decoded `[interface]` table that has no problems.

use lasthop_engine::notation::decode::Section;
use lasthop_engine::notation::layers::Layers;
use lasthop_engine::notation::problem::{Problems, Refused, did_you_mean, one_line, one_of};
use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::queue::{
    Discipline, QueueSetting, ShareOf, SharingClass, SharingClassTable, SharingSetting,
    sharing_targets,
};
use lasthop_engine::scenario::{Context, LinkSettings, Scenario};

use super::checked::{Interface, Members};
use super::checks::sharing;
use super::settings::{InterfaceTable, MembersTable};
use crate::forms;

/// Value of `interface.link` that means the queue of the access point.
const AP: &str = "ap";
/// Maximum number of packets in a queue with virtual buffer sharing (`PLACES` of
/// crates/bpf/sharing.h).
const MAX_SHARED: u32 = 4_095;

/// Properties of the scenario's link that the interface represents.
struct There {
    link: String,
    rate_bps: Option<u64>,
    queue: QueueSetting,
    classes: Vec<SharingClass>,
}

/// Returns the interface of a decoded table.
///
/// # Errors
/// A value has been refused, or does not fit the scenario.
pub(crate) fn assemble(
    interface: &Section,
    context: &Context,
    problems: &mut Problems,
) -> Result<Interface, Refused> {
    let keys = InterfaceTable::read(&Layers(&[interface]))?;
    let own = QueueSetting::at(interface, InterfaceTable::queue)?;
    let of_scenario = match context.scenario {
        Some(scenario) => link_of_scenario(interface, scenario, keys.link.as_deref(), problems)?,
        None => None,
    };
    if let (None, Some(link)) = (context.scenario, interface.located(InterfaceTable::link))
        && link.value.is_some()
    {
        let fault = "is a link of a scenario, but the file does not say what to simulate; \
                     expected no link, or a scenario";
        return Err(link.refuse_value(fault, problems));
    }
    let rate_bps = keys.rate_bps.or(of_scenario
        .as_ref()
        .and_then(|of_scenario| of_scenario.rate_bps));
    let has_own = own.is_some();
    let queue = own.or(of_scenario
        .as_ref()
        .map(|of_scenario| of_scenario.queue.clone()));
    let Some(queue) = queue else {
        let message = "has no queue; expected a queue such as `queue.threshold = 15`";
        return Err(interface.refuse(message, problems));
    };
    let Some(rate_bps) = rate_bps.or(own_rate(&queue)) else {
        let message = "has no rate; expected a rate such as \"18 Mbps\"";
        return Err(interface.refuse(message, problems));
    };
    let shares = match (sharing(interface), has_own, &of_scenario) {
        (Some(sharing), ..) => shares(sharing)?,
        (None, false, Some(of_scenario)) => of_scenario.classes.clone(),
        _ => Vec::new(),
    };
    check_queue(interface, &queue, problems)?;
    Ok(Interface {
        name: context.name.to_owned(),
        interface: keys.interface,
        link: of_scenario.map(|of_scenario| of_scenario.link),
        rate_bps,
        queue,
        from: forms::words(keys.from.as_deref().unwrap_or_default())
            .map(str::to_owned)
            .collect(),
        classes: members(interface, &shares, problems)?,
    })
}

/// Returns the properties of the named link. If no link is named, returns those of the only link
/// with a rate.
fn link_of_scenario(
    interface: &Section,
    scenario: &Scenario,
    named: Option<&str>,
    problems: &mut Problems,
) -> Result<Option<There>, Refused> {
    let links = || scenario.links.iter().filter(|link| !link.of_host);
    let has_ap = !scenario.stations.is_empty();
    let of_link = |link: &LinkSettings| There {
        link: link.name.clone(),
        rate_bps: link.rate.bps(),
        queue: link.queue.clone(),
        classes: Vec::new(),
    };
    let Some(named) = named else {
        let mut rated =
            links().filter(|link| link.rate.bps().is_some() && !link.name.ends_with("/back"));
        return Ok(match (rated.next(), rated.next()) {
            (Some(only), None) => Some(of_link(only)),
            _ => None,
        });
    };
    if named == AP && has_ap {
        let cell = &scenario.only_bss().cell;
        return Ok(Some(There {
            link: AP.to_owned(),
            rate_bps: None,
            queue: cell.ap.queue.clone(),
            classes: cell.sharing_classes.clone(),
        }));
    }
    if let Some(link) = links().find(|link| link.name == named) {
        return Ok(Some(of_link(link)));
    }
    let names: Vec<&str> = (links().map(|link| link.name.as_str()))
        .chain(has_ap.then_some(AP))
        .collect();
    let Some(link) = interface.located(InterfaceTable::link) else {
        return Ok(None);
    };
    let message = format!(
        "{} is no link of the scenario; expected {}",
        link.shown,
        one_line(&one_of(&names), 200)
    );
    let hint = did_you_mean(named, names);
    Err(problems.add_with_hint(link.origin, &link.path, message, hint))
}

/// Returns the classes listed in the interface's own queue table.
fn shares(sharing: &Section) -> Result<Vec<SharingClass>, Refused> {
    let mut classes = Vec::new();
    for (name, class) in sharing.tables(SharingSetting::class) {
        classes.push(SharingClass {
            name: name.clone(),
            share: SharingClassTable::read(&Layers(&[class]))?.share,
            target: 0.0,
            flows: Vec::new(),
        });
    }
    sharing_targets(&mut classes);
    Ok(classes)
}

/// Returns the rate of the queue's own shaper, or `None` for a queue without a shaper. [bit/s]
fn own_rate(queue: &QueueSetting) -> Option<u64> {
    match queue.discipline {
        Discipline::Cake(cake) => cake.bandwidth_bps,
        _ => None,
    }
}

/// Refuses a queue that a Linux qdisc cannot represent.
fn check_queue(
    interface: &Section,
    queue: &QueueSetting,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let Discipline::BufferSharing(sharing) = queue.discipline else {
        return Ok(());
    };
    let mut refused = |message: String| Err(interface.refuse(message, problems));
    if sharing.share_of == ShareOf::Service {
        return refused(
            "`vbs.share_of` = \"service\" is measured on the air, which is not possible at an \
             interface; expected \"queue\""
                .to_owned(),
        );
    }
    if queue.limit_packets > MAX_SHARED {
        return refused(format!(
            "a queue of {} packets is too long for classes to share on Linux; expected at most \
             {MAX_SHARED}",
            queue.limit_packets
        ));
    }
    Ok(())
}

/// Returns the classes, each with its members.
fn members(
    interface: &Section,
    shares: &[SharingClass],
    problems: &mut Problems,
) -> Result<Vec<Members>, Refused> {
    let tables = interface.tables(InterfaceTable::class);
    let names: Vec<&str> = shares.iter().map(|class| class.name.as_str()).collect();
    if let Some((name, table)) = tables
        .iter()
        .find(|(name, _)| !names.contains(&name.as_str()))
    {
        let message = match names.is_empty() {
            true => "has no effect, since the queue has no classes (`vbs.class`)".to_owned(),
            false => format!(
                "is no class of the queue; expected {}",
                one_line(&one_of(&names), 200)
            ),
        };
        let hint = did_you_mean(name, names);
        return Err(problems.add_with_hint(table.origin, &table.path, message, hint));
    }
    let mut members = Vec::new();
    for class in shares {
        let Some((_, table)) = tables.iter().find(|(name, _)| *name == class.name) else {
            let message = format!(
                "has no members of the class `{0}`; expected a table [interface.class.{0}]",
                one_line(&class.name, 80)
            );
            return Err(interface.refuse(message, problems));
        };
        let keys = MembersTable::read(&Layers(&[table]))?;
        members.push(Members {
            name: class.name.clone(),
            target: class.target,
            subnets: forms::each(keys.address.as_deref(), forms::member),
            macs: forms::each(keys.mac.as_deref(), forms::mac),
            mark: keys.mark,
        });
    }
    Ok(members)
}
