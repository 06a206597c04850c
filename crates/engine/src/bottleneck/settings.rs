//! What a file says of the virtual shared bottleneck.

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
    /// Whose shares of the bottleneck are equal.
    pub enum BottleneckFairness {
        /// Each station's, both directions together.
        Station = "station",
        /// Each station's time on the air.
        Airtime = "airtime",
        /// Each station's in proportion to its data rate.
        Rate = "rate",
        /// Each flow's, its ACKs included.
        Flow = "flow",
        /// That of all uploads and that of all downloads, their ACKs included.
        Direction = "direction",
    }
}

words! {
    /// UDP that passes the bottleneck.
    pub enum BottleneckUdp {
        /// What goes to stations.
        Down = "down",
        /// What comes from them too.
        Both = "both",
    }
}

table! {
    /// A virtual shared bottleneck between the wire and the access point: TCP and UDP of both directions share its rate fairly; pings pass beside it.
    pub struct BottleneckSettings in "vsb" {
        /// What is shared equally: the bytes of stations; their time on the air; their bytes over their data rate; the bytes of flows; those of all uploads and of all downloads. ACKs count with their flow.
        fairness: BottleneckFairness = word().default(BottleneckFairness::Station);
        /// UDP that passes it: "down", what goes to stations; "both", what comes from them too, such as uploads over QUIC.
        udp: BottleneckUdp = word().default(BottleneckUdp::Both);
        /// Most packets of each leaf, the one in service included.
        queue_packets as "queue": u32 = count(1..=100_000).default(200);
        /// Its rate C; "estimated": just under the capacity of the WLAN, from the round-trip times of pings.
        rate_bps as "rate": Option<u64> = rate().or("estimated").default("estimated");
        /// Packets pass freely until then.
        start: Span = duration(0..=1_000_000 * S).default("0 s");
        /// How C is estimated, if it is.
        apart wce: WceSettings =
            WceSettings::new(WceRule::Agreement, WceSettings::MAX_BPS, WceSettings::INTERVAL);
        /// The wireless capacity estimator, which sets the rate.
        key wce: BottleneckWce = inner().depends("the defaults of its keys");
        /// Groups of stations with one share each.
        apart groups: Vec<BottleneckGroup> = Vec::new();
        /// Groups of stations, by name. The stations of a group have one share together. The group `unlisted` has all stations that are in no other group.
        key group: GroupTable = tables().absent("each station has a share of its own");
        /// IP length of a ping and of its answer.
        ping_bytes as "ping": u32 = size(28..=1500).default("84 B");
        /// Stations whose UDP passes beside it are not pinged, and the thresholds follow the base round-trip time.
        spares_udp as "udp_aware": bool, json "udp_aware" = flag().default(true);
    }
}

impl BottleneckSettings {
    /// The bottleneck of a table; `data_rate_bps` is that of the cell's preset.
    pub(crate) fn of(
        bottleneck: &Section,
        data_rate_bps: u64,
        made: &Made,
    ) -> Result<BottleneckSettings, Refused> {
        let mut settings = BottleneckSettings::read(&Layers(&[bottleneck]))?;
        let wce = Layers(&[bottleneck]).inside(BottleneckSettings::wce);
        settings.wce = WceSettings::of(&wce.layers(), usual_cap(data_rate_bps))?;
        settings.wce.follows_base = settings.spares_udp;
        settings.groups = BottleneckGroup::all(bottleneck, made)?;
        Ok(settings)
    }

    /// Checks that the settings of a bottleneck make sense together, in a cell of this data rate.
    pub(crate) fn check(
        bottleneck: &Section,
        data_rate_bps: u64,
        made: &Made,
        problems: &mut Problems,
    ) {
        BottleneckGroup::check(bottleneck, made, problems);
        if let Some(wce) = bottleneck.inside(BottleneckSettings::wce) {
            WceSettings::check(&[wce], usual_cap(data_rate_bps), problems);
        }
    }

    /// The settings in the normalised scenario.
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

/// The paper's cap for a cell of 11 Mb/s, in proportion. [bit/s]
fn usual_cap(data_rate_bps: u64) -> u64 {
    data_rate_bps * (WceSettings::MAX_BPS / 1_000_000) / 11
}
