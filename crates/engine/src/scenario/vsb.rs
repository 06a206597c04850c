//! The virtual shared bottleneck: what it enforces, and at which rate.

use serde_json::{Value, json};

use super::decode::Section;
use super::layers::Layers;
use super::problem::Problems;
use crate::control::{Thresholds, WceSettings, WceSettingsError};
use crate::kernel::time::Span;

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
    let number = |key: &str| vsb.entry(key)?.number();
    // the paper's cap for a cell of 11 Mb/s, in proportion
    let usual_cap = data_rate_bps * (WceSettings::MAX_BPS / 1_000_000) / 11;
    let max_bps = own.rate("max_rate").unwrap_or(usual_cap);
    let interval = own.duration("ping_interval")?;
    let usual = WceSettings::new(max_bps, interval);
    let spares_udp = vsb.entry("udp_aware")?.flag()?;
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
            min_bps: own.rate("min_rate").unwrap_or(usual.min_bps),
            thresholds: Thresholds {
                low: own.duration("low")?,
                threshold: own.duration("threshold")?,
                high: own.duration("high")?,
            },
            increase_bps: own.rate("increase").unwrap_or(usual.increase_bps),
            decrease_bps: own.rate("decrease").unwrap_or(usual.decrease_bps),
            speed_up: number("speed_up")?,
            back_off: number("back_off")?,
            timeout: own.duration("timeout")?,
            follows_base: spares_udp,
            ..usual
        },
        ping_bytes: own.size("ping")?,
        spares_udp,
    })
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
    let Some(preset) = super::checks::preset(cell) else {
        return;
    };
    let Some(settings) = assemble(vsb, preset.rate_bps) else {
        return; // there has been a complaint
    };
    let Err(error) = settings.wce.checked() else {
        return;
    };
    let (key, allowed) = match error {
        WceSettingsError::Minimum => ("min_rate", "a positive rate"),
        WceSettingsError::Maximum => ("max_rate", "a rate not below min_rate"),
        WceSettingsError::Interval => ("ping_interval", "a positive time"),
        WceSettingsError::Thresholds => ("threshold", "a time between low and high"),
        WceSettingsError::Timeout => ("timeout", "a time longer than high"),
        WceSettingsError::Steps => ("decrease", "a rate not below increase"),
        WceSettingsError::SpeedUp => ("speed_up", "a factor above 1, at most 2"),
        WceSettingsError::BackOff => ("back_off", "a factor above 0 and below 1"),
    };
    let entry = vsb.entry(key);
    let shown = entry.map_or("its default", |entry| &entry.shown);
    let (origin, path) = match entry {
        Some(entry) => (entry.origin, entry.path.clone()),
        None => (vsb.origin, format!("{}.{key}", vsb.path)),
    };
    problems.add(
        origin,
        &path,
        format!("{shown} makes no sense here; allowed is {allowed}"),
    );
}

impl VsbSettings {
    pub(super) fn to_json(self) -> Value {
        let wce = &self.wce;
        json!({
            "fairness": self.fairness.name(),
            "queue_packets": self.queue_packets,
            "rate_bps": self.rate_bps,
            "start_s": self.start.seconds(),
            "max_rate_bps": wce.max_bps,
            "min_rate_bps": wce.min_bps,
            "increase_bps": wce.increase_bps,
            "decrease_bps": wce.decrease_bps,
            "speed_up": wce.speed_up,
            "back_off": wce.back_off,
            "low_s": wce.thresholds.low.seconds(),
            "threshold_s": wce.thresholds.threshold.seconds(),
            "high_s": wce.thresholds.high.seconds(),
            "timeout_s": wce.timeout.seconds(),
            "ping_interval_s": wce.interval.seconds(),
            "ping_bytes": self.ping_bytes,
            "udp_aware": self.spares_udp,
        })
    }
}
