//! Recorded frames as columns, for programs that draw or count them.

use serde_json::{Value, json};

use super::{Fate, FrameKind, FrameRecord};
use crate::kernel::time::Time;
use crate::mac::dcf::AP;
use crate::packet::PacketKind;
use crate::scenario::Scenario;

/// Frames that begin from one instant on and before another, as JSON: one list a column.
///
/// Names are the scenario's. `receiver` is null of a frame for all, `flow` and `packet` are of what
/// carries a packet, or announces one; `flow` is null of a connection that the scenario does not name.
pub fn frames_json(scenario: &Scenario, frames: &[FrameRecord], from: Time, to: Time) -> String {
    // frames of one exchange stand together, and answers behind what they answer
    let shown: Vec<&FrameRecord> = frames
        .iter()
        .filter(|frame| (from..to).contains(&frame.at))
        .collect();
    let column = |value: &dyn Fn(&FrameRecord) -> Value| -> Value {
        shown.iter().map(|&frame| value(frame)).collect()
    };
    let packet = |frame: &FrameRecord| frame.packet;
    json!({
        "start_s": column(&|frame| json!(frame.at.seconds())),
        "duration_s": column(&|frame| json!(frame.air_time(&scenario.cell.phy).seconds())),
        "sender": column(&|frame| json!(name(scenario, frame.from))),
        "receiver": column(&|frame| match frame.kind {
            FrameKind::CfEnd => Value::Null,
            _ => json!(name(scenario, frame.to)),
        }),
        "kind": column(&|frame| json!(kind(frame.kind))),
        "bytes": column(&|frame| json!(frame.bytes)),
        "rate_bps": column(&|frame| json!(frame.rate_bps)),
        "attempt": column(&|frame| json!(frame.attempt)),
        "fate": column(&|frame| json!(fate(frame.fate))),
        "discarded": column(&|frame| json!(frame.fate.is_discarded())),
        "backoff_slots": column(&|frame| json!(frame.backoff)),
        "flow": column(&|frame| json!(
            packet(frame).and_then(|it| scenario.flows.get(it.flow as usize)).map(|it| &it.name)
        )),
        "packet": column(&|frame| json!(packet(frame).map(|it| carried(it.kind)))),
    })
    .to_string()
}

fn name(scenario: &Scenario, node: u32) -> &str {
    match node {
        AP => "ap",
        station => &scenario.stations[station as usize - 1].name,
    }
}

fn kind(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Data => "data",
        FrameKind::Ack => "ack",
        FrameKind::Rts => "rts",
        FrameKind::Cts => "cts",
        FrameKind::CfEnd => "cf-end",
    }
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Delivered => "delivered",
        Fate::Collided | Fate::CollidedAndDiscarded => "collided",
        Fate::Corrupted | Fate::CorruptedAndDiscarded => "corrupted",
    }
}

fn carried(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Segment => "segment",
        PacketKind::Datagram => "datagram",
        PacketKind::Syn => "syn",
        PacketKind::Ack => "ack",
        PacketKind::SynAck => "syn-ack",
    }
}
