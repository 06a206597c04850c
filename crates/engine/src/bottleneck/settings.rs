//! The keys of the virtual shared bottleneck.

use super::groups::{BottleneckGroup, GroupTable, Made};
use crate::control::{BottleneckWce, WceRule, WceSettings};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{
    FileTable, Json, S, count, duration, flag, inner, rate, size, tables, word,
};
use crate::{table, words};

words! {
    /// Quantity that the bottleneck shares equally.
    pub enum BottleneckFairness {
        /// Bytes of each station, summed over both directions.
        Station = "station",
        /// Air time of each station.
        Airtime = "airtime",
        /// Bytes of each station divided by its data rate.
        Rate = "rate",
        /// Bytes of each flow, including its ACKs.
        Flow = "flow",
        /// Bytes of all uploads and of all downloads, including their ACKs.
        Direction = "direction",
    }
}

words! {
    /// UDP that passes through the bottleneck.
    pub enum BottleneckUdp {
        /// UDP to stations.
        Down = "down",
        /// UDP to and from stations.
        Both = "both",
    }
}

table! {
    /// A virtual shared bottleneck between the wire and the access point. TCP and UDP of both directions share the rate of the bottleneck fairly. Pings bypass the bottleneck.
    pub struct BottleneckSettings in "vsb" {
        /// Quantity that is shared equally. "station": bytes of each station. "airtime": air time of each station. "rate": bytes of each station divided by its data rate. "flow": bytes of each flow. "direction": bytes of all uploads and of all downloads. ACKs count with their flow.
        fairness: BottleneckFairness = word().default(BottleneckFairness::Station);
        /// UDP traffic that passes through the bottleneck. "down": UDP to stations. "both": UDP to and from stations, such as uploads over QUIC.
        udp: BottleneckUdp = word().default(BottleneckUdp::Both);
        /// Largest number of packets in each leaf queue, including the packet in service.
        queue_packets as "queue": u32 = count(1..=100_000).default(200);
        /// Rate C of the bottleneck. "estimated" keeps the rate just below the capacity of the WLAN, which is estimated from the round-trip times of pings.
        rate_bps as "rate": Option<u64> = rate().or("estimated").default("estimated");
        /// Time at which the bottleneck starts. Until then, packets do not wait in it.
        start: Span = duration(0..=1_000_000 * S).default("0 s");
        /// Settings of the estimator, which are used if C is estimated.
        hidden wce: WceSettings =
            WceSettings::new(WceRule::Agreement, WceSettings::MAX_BPS, WceSettings::INTERVAL);
        /// Settings of the wireless capacity estimator, which sets the rate of the bottleneck.
        key wce: BottleneckWce = inner().depends("the defaults of the table's keys");
        /// Groups of stations with one share each.
        hidden groups: Vec<BottleneckGroup> = Vec::new();
        /// Groups of stations, by name. The stations of a group have one common share. The group `unlisted` contains all stations that are in no other group.
        key group: GroupTable = tables().absent("each station has a share of its own");
        /// Length of the IP packet of a ping, and of its reply.
        ping_bytes as "ping": u32 = size(28..=1500).default("84 B");
        /// If true, stations whose UDP bypasses the bottleneck are not pinged, and the thresholds follow the base round-trip time.
        spares_udp as "udp_aware": bool, json "udp_aware" = flag().default(true);
    }
}

impl BottleneckSettings {
    /// Returns the bottleneck that a table defines. `data_rate_bps` is the data rate of the cell's
    /// preset.
    pub(crate) fn of(
        bottleneck: &Section,
        data_rate_bps: u64,
        made: &Made,
    ) -> Result<BottleneckSettings, Refused> {
        let mut settings = BottleneckSettings::read(&Layers(&[bottleneck]))?;
        let wce = Layers(&[bottleneck]).inside(BottleneckSettings::wce);
        settings.wce = WceSettings::of(&wce.layers(), default_max_bps(data_rate_bps))?;
        settings.wce.follows_base = settings.spares_udp;
        settings.groups = BottleneckGroup::all(bottleneck.tables(BottleneckSettings::group), made)?;
        Ok(settings)
    }

    /// Checks the combinations of keys in the table of a bottleneck, for a cell with this data
    /// rate.
    pub(crate) fn check(
        bottleneck: &Section,
        data_rate_bps: u64,
        made: &Made,
        problems: &mut Problems,
    ) {
        let groups = bottleneck.tables(BottleneckSettings::group);
        BottleneckGroup::check(groups, made, problems);
        if !groups.is_empty()
            && let Some(fairness) = bottleneck.located(BottleneckSettings::fairness)
            && fairness.value != BottleneckFairness::Station
        {
            let fault = "does not support groups: must be \"station\" with `vsb.group`";
            fairness.refuse_value(fault, problems);
        }
        if let Some(wce) = bottleneck.inside(BottleneckSettings::wce) {
            WceSettings::check(&[wce], default_max_bps(data_rate_bps), problems);
        }
    }

    /// Returns the settings of the bottleneck for the normalised scenario.
    pub(crate) fn to_json(&self, stations: &[&str]) -> Json {
        let mut json = self.json();
        json["wce"] = self.wce.json();
        if !self.groups.is_empty() {
            let groups = self.groups.iter().map(|group| group.to_json(stations));
            json["groups"] = groups.collect();
        }
        json
    }
}

/// Returns the default maximum rate: the value of paper 002 for a cell of 11 Mb/s, scaled by the
/// data rate. [bit/s]
fn default_max_bps(data_rate_bps: u64) -> u64 {
    data_rate_bps * (WceSettings::MAX_BPS / 1_000_000) / 11
}
