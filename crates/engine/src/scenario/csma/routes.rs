//! Routes of flows over wireless and wired links.

use super::super::model::{LinkRate, LinkSettings, Scenario};
use super::{CsmaLink, Hop};
use crate::kernel::time::Span;
use crate::notation::decode::Located;
use crate::notation::problem::{Problems, Refused, did_you_mean, one_line, one_of};

/// Checks that a packet does not cross the whole route in zero time: the route needs a wireless
/// link, or a wired link with a rate or a delay.
pub(super) fn check_time(
    names: &Located<Vec<String>>,
    route: &[Hop],
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let takes_time = |hop: &Hop| match hop {
        Hop::Wireless(_) => true,
        Hop::Wired(wire) => {
            let wire = &scenario.links[*wire];
            wire.rate != LinkRate::Unlimited || wire.delay > Span::ZERO
        }
    };
    if route.iter().any(takes_time) {
        return Ok(());
    }
    let message = "packets take no time on this link; expected a wireless link, or a rate or a \
                   delay";
    Err(names.refuse(message, problems))
}

/// Returns the links of a route, whose names the file lists. Each link must exist, and must begin
/// at the node where the previous link ends.
pub(super) fn route(
    names: &Located<Vec<String>>,
    links: &[CsmaLink],
    wired: &[LinkSettings],
    problems: &mut Problems,
) -> Result<Vec<Hop>, Refused> {
    let mut hops = Vec::new();
    for name in &names.value {
        let wireless = links.iter().position(|link| link.name == *name);
        let wire = || wired.iter().position(|link| link.name == *name);
        let wireless = wireless.map(Hop::Wireless);
        let Some(hop) = wireless.or_else(|| wire().map(Hop::Wired)) else {
            let known: Vec<&str> = every(links, wired).map(|(name, _)| name).collect();
            let all = one_line(&one_of(&known), 200);
            let message = format!("there is no link \"{name}\"; expected {all}");
            let hint = did_you_mean(name, known);
            return Err(names.refuse_with_hint(message, hint, problems));
        };
        hops.push(hop);
    }
    touching(names, links, wired, problems)?;
    Ok(hops)
}

/// Transmitter and receiver of a link; `None` if the file lists conflicts in place of nodes.
type Ends<'a> = Option<[&'a str; 2]>;

/// Returns the name and the ends of every link that a route may cross.
fn every<'a>(
    links: &'a [CsmaLink],
    wired: &'a [LinkSettings],
) -> impl Iterator<Item = (&'a str, Ends<'a>)> {
    let on_air = links.iter().map(|link| {
        let ends = link.ends.as_ref();
        let ends = ends.map(|[from, to]| [from.as_str(), to.as_str()]);
        (link.name.as_str(), ends)
    });
    let wires = wired.iter().filter(|link| !link.name.contains('/'));
    let wires = wires.map(|link| {
        let ends = [link.from.as_str(), link.to.as_str()];
        (link.name.as_str(), Some(ends))
    });
    on_air.chain(wires)
}

/// Refuses a route with a gap: a link does not begin at the node where the previous link ends.
/// A link whose conflicts are listed in the file has no nodes, so it is accepted at any position of
/// a route.
fn touching(
    names: &Located<Vec<String>>,
    links: &[CsmaLink],
    wired: &[LinkSettings],
    problems: &mut Problems,
) -> Result<(), Refused> {
    let ends = |name: &String| every(links, wired).find(|(link, _)| link == name)?.1;
    for pair in names.value.windows(2) {
        let [link, next] = pair else { continue };
        let (Some([_, to]), Some([from, end])) = (ends(link), ends(next)) else {
            continue;
        };
        if to == from {
            continue;
        }
        let begins_there = |ends: Ends| ends.is_some_and(|[from, _]| from == to);
        let after = every(links, wired).filter(|(_, ends)| begins_there(*ends));
        let after: Vec<&str> = after.map(|(name, _)| name).collect();
        let shown = one_line(&after.join(", "), 200);
        let allowed = match after.is_empty() {
            true => format!("no link begins at {to}"),
            false => format!("expected a link that begins at {to}: {shown}"),
        };
        let message = format!(
            "has a gap: link \"{link}\" ends at node {to}, link \"{next}\" begins at node \
             {from}; {allowed}"
        );
        let hint = (end == to).then(|| {
            format!("a route passes links from `from` to `to`, and \"{next}\" leads to {to}")
        });
        return Err(names.refuse_with_hint(message, hint, problems));
    }
    Ok(())
}
