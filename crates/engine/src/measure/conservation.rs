//! The conservation laws that every run must obey.

use crate::error::EngineError;
use crate::world::World;

/// Created = delivered + lost + queued or under way, per flow; begun = finished + open, per web
/// source; offered = dropped + left + inside and
/// left = acknowledged + given up, per queue; busy + idle = elapsed, for the medium.
///
/// # Errors
/// `EngineError::Conservation` naming the law, the item and both sides.
pub(crate) fn check(world: &World<'_>) -> Result<(), EngineError> {
    let violated = |law: String| Err(EngineError::Conservation(law));
    let mut under_way = vec![[0_u64; 2]; world.flows().states().len()];
    world.each_packet(&mut |packet| {
        under_way[packet.flow as usize][usize::from(packet.is_data())] += 1;
    });
    for (index, flow) in world.flows().states().iter().enumerate() {
        let c = flow.counters(world.now());
        let name = world.flow_name(index);
        let [acks, data] = under_way[index];
        if c.sent != c.arrived + c.lost + data {
            return violated(format!(
                "{name}: {} sent, {} arrived + {} lost + {data} under way",
                c.sent, c.arrived, c.lost
            ));
        }
        if c.acks_sent != c.acks_arrived + c.acks_lost + acks {
            return violated(format!(
                "{name}: {} ACKs sent, {} arrived + {} lost + {acks} under way",
                c.acks_sent, c.acks_arrived, c.acks_lost
            ));
        }
        let unique = c.sent - c.retransmitted;
        if c.delivered > unique {
            return violated(format!(
                "{name}: {} delivered of {unique} sent",
                c.delivered
            ));
        }
        let delivered = flow.delivered_of_present();
        if let Some(sender) = flow.sender()
            && sender.acked() > delivered
        {
            return violated(format!(
                "{name}: {} acknowledged of {delivered}",
                sender.acked()
            ));
        }
    }
    for web in world.flows().webs().sources() {
        let (begun, finished) = web.totals();
        let unfinished = web.unfinished();
        if begun != finished + unfinished {
            return violated(format!(
                "web: {begun} connections begun, {finished} finished + {unfinished} open"
            ));
        }
    }
    for (number, queue) in world.radio().queues().enumerate() {
        let name = world.radio().queue_name(number);
        let inside = queue.packets().count() as u64;
        if queue.counters().length() != inside {
            return violated(format!(
                "queue {name}: {} expected inside, {inside} found",
                queue.counters().length()
            ));
        }
        let frames = world.radio().frames(number);
        let left = queue.counters().left;
        if left != frames.delivered + frames.discarded {
            return violated(format!(
                "queue {name}: {left} left, {} acknowledged + {} given up",
                frames.delivered, frames.discarded
            ));
        }
    }
    if let Err(law) = super::csma::check(world) {
        return violated(law);
    }
    let Some(cell) = world.radio().cell() else {
        return Ok(());
    };
    let (busy, idle) = (cell.medium().busy_ns(), cell.medium().idle_ns());
    let elapsed = cell.medium().idle_since().0;
    if busy + idle != elapsed {
        return violated(format!(
            "medium: {busy} ns busy + {idle} ns idle in {elapsed} ns"
        ));
    }
    Ok(())
}
