//! The virtual shared bottleneck: what it enforces, and at which rate.

use serde_json::{Value, json};

use super::wce;
use crate::control::WceSettings;
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;

/// A virtual shared bottleneck between the wire and the access point (paper 002, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VsbSettings {
    /// Whose shares are equal.
    pub fairness: VsbFairness,
    /// Most packets of each leaf, the one in service included.
    pub queue_packets: u32,
    /// Its rate C, if that is not estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// Packets pass freely until then.
    pub start: Span,
    /// How C is estimated, if it is.
    pub wce: WceSettings,
    /// IP length of a ping. [bytes]
    pub ping_bytes: u32,
    /// No station that sends UDP is pinged (appendix IV).
    pub spares_udp: bool,
}

/// Whose shares of the bottleneck are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VsbFairness {
    /// Each station's, both directions together.
    Station,
    /// Each station's time on the air.
    Airtime,
    /// Each station's in proportion to its data rate.
    Rate,
    /// Each flow's, its ACKs included.
    Flow,
    /// That of all uploads and that of all downloads, their ACKs included.
    Direction,
}

impl VsbFairness {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            VsbFairness::Station => "station",
            VsbFairness::Airtime => "airtime",
            VsbFairness::Rate => "rate",
            VsbFairness::Flow => "flow",
            VsbFairness::Direction => "direction",
        }
    }
}

/// The bottleneck of a file; `data_rate_bps` is that of the cell's preset.
pub(super) fn assemble(vsb: &Section, data_rate_bps: u64) -> Option<VsbSettings> {
    let own = Layers(&[vsb]);
    let spares_udp = vsb.entry("udp_aware")?.flag()?;
    let wce = wce::assemble(&Layers(&[vsb.table("wce")?]), usual_cap(data_rate_bps))?;
    Some(VsbSettings {
        fairness: match vsb.entry("fairness")?.word()? {
            "airtime" => VsbFairness::Airtime,
            "rate" => VsbFairness::Rate,
            "flow" => VsbFairness::Flow,
            "direction" => VsbFairness::Direction,
            _ => VsbFairness::Station,
        },
        queue_packets: own.count("queue")?,
        rate_bps: own.rate("rate"),
        start: own.duration("start")?,
        wce: WceSettings {
            follows_base: spares_udp,
            ..wce
        },
        ping_bytes: own.size("ping")?,
        spares_udp,
    })
}

/// The paper's cap for a cell of 11 Mb/s, in proportion. [bit/s]
fn usual_cap(data_rate_bps: u64) -> u64 {
    data_rate_bps * (WceSettings::MAX_BPS / 1_000_000) / 11
}

/// Whether the settings of a bottleneck make sense together.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    let Some(vsb) = root.table("vsb") else {
        return;
    };
    let Some(cell) = root.table("cell") else {
        let message = "it stands in front of an access point; needed is a cell with stations";
        problems.add(vsb.origin, &vsb.path, message.to_owned());
        return;
    };
    let (Some(preset), Some(table)) = (super::checks::preset(cell), vsb.table("wce")) else {
        return; // there has been a complaint
    };
    wce::check(&[table], usual_cap(preset.rate_bps), problems);
}

impl VsbSettings {
    pub(super) fn to_json(self) -> Value {
        json!({
            "fairness": self.fairness.name(),
            "queue_packets": self.queue_packets,
            "rate_bps": self.rate_bps,
            "start_s": self.start.seconds(),
            "wce": wce::to_json(&self.wce),
            "ping_bytes": self.ping_bytes,
            "udp_aware": self.spares_udp,
        })
    }
}
