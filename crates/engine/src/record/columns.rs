//! Converts recorded frames to JSON with one list per property, for programs that draw or count
//! frames.

use serde_json::{Value, json};

use super::{Fate, FrameKind, FrameRecord, Mpdu};
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::packet::Packet;
use crate::scenario::Scenario;

/// Returns the frames that begin at `from` or later and before `to`, as JSON with one list per
/// property.
///
/// Nodes and flows are given by their names in the scenario. `receiver` is null for a frame to all
/// nodes. `flow` and `packet` are set for data frames and RTS frames. `flow` or `packet` is null if
/// its value is not the same for all packets of a PPDU. `flow` is null for a connection that has no
/// name in the scenario. `mpdus` and `mpdus_lost` are null for control frames. In a cell that
/// aggregates, `sequence` has the sequence numbers of the MPDUs, and `lost` has the sequence
/// numbers of the MPDUs that were not received. `mcs` is set for PPDUs with an MCS.
pub fn frames_json(scenario: &Scenario, frames: &[FrameRecord], from: Time, to: Time) -> String {
    // the frames are in the order of the exchanges, and each response follows its data frame
    let shown: Vec<&FrameRecord> = frames
        .iter()
        .filter(|frame| (from..to).contains(&frame.at))
        .collect();
    let phy = &scenario.only_bss().cell.phy;
    let column = |value: &dyn Fn(&FrameRecord) -> Value| -> Value {
        shown.iter().map(|&frame| value(frame)).collect()
    };
    json!({
        "start_s": column(&|frame| json!(frame.at.seconds())),
        "duration_s": column(&|frame| json!(frame.air_time(phy).seconds())),
        "sender": column(&|frame| json!(name(scenario, frame.from))),
        "receiver": column(&|frame| json!(
            (frame.kind != FrameKind::CfEnd).then(|| name(scenario, frame.to))
        )),
        "kind": column(&|frame| json!(frame.kind)),
        "bytes": column(&|frame| json!(frame.bytes)),
        "rate_bps": column(&|frame| json!(frame.rate_bps)),
        "mcs": column(&|frame| json!(frame.modulation().map(|it| it.mcs))),
        "attempt": column(&|frame| json!(frame.attempt)),
        "fate": column(&|frame| json!(frame.fate)),
        "discarded": column(&|frame| json!(frame.is_discarded())),
        "backoff_slots": column(&|frame| json!(frame.backoff)),
        "flow": column(&|frame| json!(
            common(frame, |it| it.flow)
                .and_then(|flow| scenario.flows.get(flow as usize))
                .map(|it| &it.name)
        )),
        "packet": column(&|frame| json!(common(frame, |it| it.kind))),
        "mpdus": column(&|frame| json!(mpdus(frame))),
        "mpdus_lost": column(&|frame| json!(mpdus_lost(frame))),
        "sequence": column(&|frame| numbers(frame, |_| true)),
        "lost": column(&|frame| numbers(frame, |mpdu| mpdu.is_lost)),
    })
    .to_string()
}

/// Returns a property that all packets in a frame have in common; `None` if the packets differ in
/// this property.
fn common<T: PartialEq>(frame: &FrameRecord, of: impl Fn(&Packet) -> T) -> Option<T> {
    let first = of(frame.packet.as_ref()?);
    let ppdu = frame.ppdu.as_ref();
    let all = ppdu.is_none_or(|ppdu| ppdu.packets.iter().all(|packet| of(packet) == first));
    all.then_some(first)
}

fn mpdus(frame: &FrameRecord) -> Option<usize> {
    (frame.kind == FrameKind::Data).then(|| frame.count())
}

fn mpdus_lost(frame: &FrameRecord) -> Option<usize> {
    mpdus(frame).map(|_| match frame.mpdus() {
        [] => usize::from(frame.fate != Fate::Delivered),
        several => several.iter().filter(|mpdu| mpdu.is_lost).count(),
    })
}

/// Returns the sequence numbers of the MPDUs of `frame` for which `which` returns true.
fn numbers(frame: &FrameRecord, which: impl Fn(&Mpdu) -> bool) -> Value {
    match frame.mpdus() {
        [] => Value::Null,
        several => (several.iter().filter(|mpdu| which(mpdu)))
            .map(|mpdu| json!(mpdu.sequence_number()))
            .collect(),
    }
}

fn name(scenario: &Scenario, node: NodeId) -> &str {
    match scenario.only_bss().roles.station_of(node) {
        None => "ap",
        Some(station) => &scenario.stations[station].name,
    }
}
