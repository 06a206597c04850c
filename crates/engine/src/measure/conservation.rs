//! The conservation laws that every run must obey, for example that no packet is lost without being
//! counted.

use super::item::Measures;
use crate::error::EngineError;
use crate::kernel::time::Time;
use crate::quantities::FRACTIONS;
use crate::scenario::Transport;
use crate::world::World;

/// Checks the conservation laws of a run:
///
/// - Packets of a flow: created = delivered + lost + in queues + in flight.
/// - Times of a TCP sender without handshake: at any time one limit (cwnd, receive window or
///   application) stops the sender. The times for all limits add up to the sender's lifetime.
/// - Connections of a web source: started = finished + open.
/// - Packets of a queue: offered = dropped + left + still in the queue, and left = acknowledged +
///   discarded by the MAC.
/// - Time of the medium: busy + idle = elapsed.
///
/// # Errors
/// Returns `EngineError::Conservation` with the violated law, the item (flow, queue, ...)
/// and both sides of the equation.
pub(crate) fn check(world: &World<'_>) -> Result<(), EngineError> {
    check_flows(world)
        .and_then(|()| check_queues(world))
        .and_then(|()| check_links_on_air(world))
        .and_then(|()| check_cell(world))
        .map_err(EngineError::Conservation)
}

/// Checks that every probability and every fraction is in [0, 1].
///
/// # Errors
/// Returns the item, the quantity and the value that is outside [0, 1].
pub(crate) fn check_fractions(measures: &Measures) -> Result<(), EngineError> {
    let items = measures
        .lists
        .iter()
        .flat_map(|(list, items)| items.iter().map(move |item| (list, item)));
    for (list, item) in items {
        for &(name, value) in &item.values {
            let Some(value) = value else { continue };
            let law = (0.0..=1.0).contains(&value) || !is_fraction(name);
            holds(law, || {
                format!(
                    "{list}, {}: {name} is {value}, which is not in [0, 1]",
                    item.name
                )
            })
            .map_err(EngineError::Conservation)?;
        }
    }
    Ok(())
}

fn is_fraction(name: &str) -> bool {
    FRACTIONS.iter().any(|quantity| quantity.name == name)
}

/// Returns an error with the text `violation` if the condition `law` is false.
fn holds(law: bool, violation: impl FnOnce() -> String) -> Result<(), String> {
    if law { Ok(()) } else { Err(violation()) }
}

fn check_flows(world: &World<'_>) -> Result<(), String> {
    let mut under_way = vec![[0_u64; 2]; world.flows().states().len()];
    world.each_packet(&mut |packet| {
        under_way[packet.flow as usize][usize::from(packet.is_data())] += 1;
    });
    let scenario = &world.scenario().flows;
    for (index, flow) in world.flows().states().iter().enumerate() {
        let c = flow.counters(world.now());
        let name = world.flow_name(index);
        let [acks, data] = under_way[index];
        holds(c.sent == c.arrived + c.lost + data, || {
            let (sent, arrived, lost) = (c.sent, c.arrived, c.lost);
            format!("{name}: {sent} sent, {arrived} arrived + {lost} lost + {data} under way")
        })?;
        holds(c.acks_sent == c.acks_arrived + c.acks_lost + acks, || {
            format!(
                "{name}: {} ACKs sent, {} arrived + {} lost + {acks} under way",
                c.acks_sent, c.acks_arrived, c.acks_lost
            )
        })?;
        let (delivered, unique) = (c.delivered, c.sent - c.retransmitted);
        holds(delivered <= unique, || {
            format!("{name}: {delivered} delivered of {unique} sent")
        })?;
        if let Some(Transport::Tcp(tcp)) = scenario.get(index).map(|flow| &flow.transport)
            && flow.sender().is_some()
        {
            let limited_ns: u64 = c.limited_ns.iter().sum();
            let life_ns = flow.life(Time::ZERO, world.now()).0;
            let opens_later = tcp.handshake && limited_ns <= life_ns;
            holds(limited_ns == life_ns || opens_later, || {
                format!("{name}: {limited_ns} ns with a limit in a life of {life_ns} ns")
            })?;
        }
        let delivered = flow.delivered_of_present();
        let acked = flow.sender().map_or(0, |sender| sender.acked());
        holds(acked <= delivered, || {
            format!("{name}: {acked} acknowledged of {delivered}")
        })?;
    }
    for web in world.flows().webs().sources() {
        let (begun, finished) = web.totals();
        let open = web.unfinished();
        holds(begun == finished + open, || {
            format!("web: {begun} connections begun, {finished} finished + {open} open")
        })?;
    }
    Ok(())
}

fn check_queues(world: &World<'_>) -> Result<(), String> {
    for (number, queue) in world.radio().queues().enumerate() {
        let name = world.radio().queue_name(number);
        let inside = queue.packets().count() + world.radio().in_service(number).count();
        let (expected, inside) = (queue.counters().length(), inside as u64);
        holds(expected == inside, || {
            format!("queue {name}: {expected} expected inside, {inside} found")
        })?;
        let frames = world.radio().frames(number);
        let (delivered, discarded) = (frames.delivered, frames.discarded);
        let left = queue.counters().left;
        holds(left == delivered + discarded, || {
            format!("queue {name}: {left} left, {delivered} acknowledged + {discarded} given up")
        })?;
    }
    let Some(cell) = world.radio().cell() else {
        return Ok(());
    };
    let expected: u64 = cell.sleepers().map(|(_, own)| own.length()).sum();
    let held = cell.power_save_packets().count() as u64;
    holds(expected == held, || {
        format!("power save: {expected} expected to be kept, {held} found")
    })
}

fn check_cell(world: &World<'_>) -> Result<(), String> {
    let Some(cell) = world.radio().cell() else {
        return Ok(());
    };
    let (busy, idle) = (cell.medium().busy_ns(), cell.medium().idle_ns());
    let elapsed = cell.medium().idle_since().0;
    holds(busy + idle == elapsed, || {
        format!("medium: {busy} ns busy + {idle} ns idle in {elapsed} ns")
    })?;
    for station in 0..world.scenario().stations.len() {
        let air_ns = cell.air_ns(station, world.now()).unwrap_or(0);
        let elapsed = world.now().0;
        holds(air_ns <= elapsed, || {
            format!("station {station}: {air_ns} ns on the air in {elapsed} ns")
        })?;
    }
    Ok(())
}

/// Checks a CSMA network. Every transmission must be counted as delivered, corrupted or collided.
/// No link starts to transmit while it senses another link. No link transmits for longer than the
/// elapsed time.
fn check_links_on_air(world: &World<'_>) -> Result<(), String> {
    let Some(conflict) = world.radio().conflict() else {
        return Ok(());
    };
    let graph = conflict.medium();
    for number in 0..conflict.queues() {
        let (link, name) = (number as u32, conflict.queue_name(number));
        let c = graph.counters(link);
        let dummies = graph.dummies(link);
        let failed = c.attempts - c.delivered - dummies;
        let possible = c.corrupted..=c.corrupted + c.collided;
        holds(possible.contains(&failed) && c.discarded <= failed, || {
            format!(
                "link {name}: {} attempts, {} delivered, {dummies} dummies, {} corrupted, \
                 {} collided",
                c.attempts, c.delivered, c.corrupted, c.collided
            )
        })?;
        let (air_ns, elapsed_ns) = (graph.air_ns(link, world.now()).0, world.now().0);
        holds(air_ns <= elapsed_ns, || {
            format!("link {name}: {air_ns} ns on the air in {elapsed_ns} ns")
        })?;
    }
    let overlaps = graph.overlaps();
    holds(overlaps == 0, || {
        format!("{overlaps} transmissions began during a transmission that the link heard")
    })
}
