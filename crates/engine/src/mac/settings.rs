//! What a file says of the cell: its physical layer, and the medium access of its nodes.

use super::aggregation::{Aggregation, AggregationKeys, Aggregations};
use super::power_save::PowerSave;
use super::ppdu::Modulation;
use super::ppdu_settings::{Band, EdcaDefaults, NOT_MODELLED, PpduKeys, Ppdus, StreamKeys};
use super::presets::{
    CONTROL_RATE, DATA_RATE, Preset, per_preset, rate_of, size_of, time_of, usual_rates,
};
use super::rate_control::RateControl;
use crate::channel::{Channel, ChannelChange, frame_error};
use crate::echo::{Echo, EchoChange};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{
    FileTable, Json, JsonObject, MS, S, Setting, US, Words, count, duration, flag, inner, listed,
    name, rate, size, word,
};
use crate::notation::value::Value;
use crate::packet::Direction;
use crate::queue::{ApQueue, QueueSetting, SharingClass, ap_queue, queue};
use crate::{table, words};

words! {
    /// Physical layer of the cell.
    pub enum PhyKind {
        /// DSSS/HR-DSSS, long preamble.
        Dot11b = "802.11b",
        /// ERP-OFDM with 6 us signal extension, short slot.
        Dot11g = "802.11g",
        /// 802.11g rates after a long DSSS preamble (paper 000, Table II).
        Dot11gLong = "802.11g-long",
        /// OFDM at 5 GHz.
        Dot11a = "802.11a",
        /// High throughput (HT): aggregates, 20 or 40 MHz, 2.4 or 5 GHz.
        Dot11n = "802.11n",
        /// Very high throughput (VHT): aggregates, 20 to 160 MHz, 5 GHz.
        Dot11ac = "802.11ac",
        /// High efficiency (HE): aggregates, 20 to 160 MHz, 2.4, 5 or 6 GHz.
        Dot11ax = "802.11ax",
    }
}

table! {
    /// Timing of the physical layer, from the preset unless overridden.
    pub struct Phy: Copy in "phy" {
        /// Preset of timing, rates and contention windows.
        kind as "phy": PhyKind, json "phy" = word().hinting(PhyKind::meant).required();
        /// Slot time.
        slot: Span = duration(1..=MS).by_preset(|| per_preset(|preset| time_of(preset.slot)))
            => Preset::of(kind).slot;
        /// Short interframe space (SIFS). It is 10 us in an 802.11n or ax cell at 2.4 GHz.
        sifs: Span = duration(0..=MS).by_preset(|| per_preset(|preset| time_of(preset.sifs))), by sifs;
        /// Duration of the preamble and PLCP header in front of every frame. In 802.11n, ac and ax cells it applies only to control frames.
        preamble: Span =
            duration(0..=10 * MS).by_preset(|| per_preset(|preset| time_of(preset.preamble)))
            => Preset::of(kind).preamble;
        /// Rate of the MAC ACK whose duration EIFS contains.
        eifs_rate_bps as "eifs_rate": u64 =
            rate().by_preset(|| per_preset(|preset| rate_of(preset.eifs_rate_bps)))
            => Preset::of(kind).eifs_rate_bps;
        /// Silence after every OFDM frame, which counts as busy.
        made signal_extension: Span = signal_extension;
    }
}

/// The physical layer without what aggregates: that of control frames and of older stations.
fn older(layers: &Layers) -> Result<PhyKind, Refused> {
    let kind = layers.need(Phy::kind)?;
    Ok(
        match (kind.generation(), layers.value(PpduKeys::band)?.flatten()) {
            (None, _) => kind,
            (Some(_), Some(Band::Ghz2_4)) => PhyKind::Dot11g,
            (Some(_), _) => PhyKind::Dot11a,
        },
    )
}

fn sifs(layers: &Layers) -> Result<Span, Refused> {
    let given = layers.value(Phy::sifs)?;
    Ok(given.unwrap_or(Preset::of(older(layers)?).sifs))
}

fn signal_extension(layers: &Layers) -> Result<Span, Refused> {
    Ok(older(layers)?.signal_extension())
}

impl PhyKind {
    /// What to say to somebody who gave this name, which is that of no physical layer here.
    fn meant(name: &str) -> Option<String> {
        let plain: String = name.to_lowercase().replace([' ', '-', '_', '.'], "");
        let plain = plain.trim_start_matches("ieee").trim_start_matches("80211");
        let known = match plain {
            "wifi4" | "n" | "ht" => "802.11n",
            "wifi5" | "ac" | "vht" => "802.11ac",
            "wifi6" | "wifi6e" | "ax" | "he" => "802.11ax",
            "a" => "802.11a",
            "b" => "802.11b",
            "g" => "802.11g",
            "wifi7" | "be" | "eht" | "wifi8" | "bn" => {
                return Some(
                    "the latest standard that is modelled is \"802.11ax\"; 802.11be with \
                     several links, wider channels or MCS 12 and 13 is not modelled"
                        .to_owned(),
                );
            }
            "ad" | "ay" | "ah" | "af" | "p" => {
                return Some("only the bands of 2.4, 5 and 6 GHz are modelled".to_owned());
            }
            _ => return None,
        };
        let band = match plain {
            "wifi6e" => " with band = \"6 GHz\"",
            _ => "",
        };
        Some(format!("did you mean \"{known}\"{band}?"))
    }

    /// Silence after every OFDM frame (IEEE 802.11-2020, 18.3.2.4).
    pub const fn signal_extension(self) -> Span {
        match self {
            PhyKind::Dot11g => Span(6_000),
            _ => Span::ZERO,
        }
    }
}

words! {
    /// Instant at which a backoff counter decreases.
    pub enum CountdownRule {
        /// At the end of each idle slot.
        Dcf = "dcf",
        /// At the beginning of each slot, including a slot in which another node begins to send.
        Edca = "edca",
    }
}

words! {
    /// Wait of a node whose frame collided with a longer frame.
    pub enum ColliderWait {
        /// AIFS: a node that sends receives nothing, and so no frame in error (IEEE 802.11-2016, 10.3.2.3.7).
        Aifs = "aifs",
        /// EIFS, as for nodes that only listened, also if both frames end simultaneously (ns-2).
        Eifs = "eifs",
    }
}

words! {
    /// Order in which the access point serves its queue.
    pub enum QueueOrder {
        /// First in, first out.
        Fifo = "fifo",
        /// A packet is drawn at random, and the first packet of its flow is next, as in models of a
        /// randomly mixed queue. Packets of a flow stay in order.
        Mixed = "mixed",
    }
}

table! {
    /// The WLAN cell. Access keys that are set here apply to all nodes.
    pub struct Cell in "cell" without NOT_MODELLED {
        /// Timing.
        flat phy: Phy;
        /// Access point.
        made ap: Node = access_point;
        /// Order of service in the access point's queues.
        made ap_queue_order: QueueOrder = ap_queue_order;
        /// PPDUs of 802.11n, ac and ax, if the cell's physical layer has them.
        made ppdus: Option<Ppdus> = Ppdus::read;
        /// Beacons, and packets that are kept for sleeping stations.
        made power_save: PowerSave = PowerSave::read;
        /// Classes among which the access point's queue is shared, if its discipline shares it.
        hidden sharing_classes: Vec<SharingClass> = Vec::new();
        /// Rate of data frames, in both directions.
        key rate: u64 = listed(&DATA_RATE).by_preset(usual_rates);
        /// MAC header and frame check sequence of a data frame.
        mac_header_bytes as "mac_header": u32 =
            size(0..=256).by_preset(|| per_preset(|preset| size_of(preset.mac_header_bytes)))
            => Preset::of(phy.kind).mac_header_bytes;
        /// LLC/SNAP header of a data frame.
        llc_bytes as "llc": u32 = size(0..=256).default("8 B");
        /// Length above which a MAC frame is preceded by RTS/CTS.
        rts_threshold_bytes as "rts_threshold": Option<u32> =
            size(0..=65_535).or("never").default("never");
        /// Time for which a sender waits for the MAC ACK or CTS. "eifs": it waits until only AIFS is left of the EIFS of the other nodes, so that all nodes resume simultaneously.
        ack_timeout: Option<Span> = duration(US..=10 * MS).or("eifs").default("eifs");
        /// Wait of a node whose frame collided with a frame that ends later, if ack_timeout is a time. "aifs": AIFS, because the node has received no frame in error. "eifs": EIFS, also if both frames end simultaneously, as in ns-2.
        collider_wait: ColliderWait = word().default(ColliderWait::Aifs);
        /// Instant at which a backoff counter decreases. "dcf": at the end of each idle slot. "edca": at the beginning of each slot, so that a slot in which another node begins to send also counts.
        countdown: CountdownRule =
            word().by_preset(|| per_preset(|preset| preset.countdown.name().to_owned()))
            => Preset::of(phy.kind).countdown;
        /// If true, a node with nothing more to send ends its TXOP with a CF-End frame, SIFS after its last MAC ACK. It does so only if there is a txop_limit and time is left for the frame.
        cf_end: bool = flag().default(false);
        /// Choice of the rate of data frames. "fixed": always the given rate. "arf": automatic rate fallback per link, among the rates up to the given rate. Two frames lost in a row lower the rate, and ten frames received in a row raise it.
        rate_control: RateControl = word().default(RateControl::Fixed);
        all_of PpduKeys;
        all_of StreamKeys;
        all_of PowerSave;
        /// Queue of the access point, a short form of cell.ap.queue. A bare number is its limit in packets. If --set replaces a table by a bare number, the discipline is kept; { limit = 100 } makes a FIFO of 100 packets.
        key ap_queue: ApQueue =
            ap_queue().by_preset(|| per_preset(|preset| preset.ap_queue_packets.to_string()));
        /// Queue of each station. A bare number is its limit in packets.
        key queue: QueueSetting = queue().default(1_000);
        /// Node of the wired network at which the cell's wire ends.
        key node: String = name().depends("a separate node");
        /// Settings of the access point that differ from those of the cell.
        key ap: ApTable = inner().depends("the values of the cell");
        all_of NodeAccess;
    }
}

table! {
    /// The access point.
    pub struct ApTable in "ap" {
        /// Rate of data frames to every station.
        key rate: u64 = listed(&DATA_RATE).depends("each station's own rate");
        /// Queue of each access category: the limit in packets, or a table with limit and discipline.
        key queue: ApQueue = ap_queue().depends("the value of cell.ap_queue");
        /// Order in which the queue is served. "fifo": first in, first out. "mixed": a packet is drawn at random, and the first packet of its flow is sent next, as in models of a randomly mixed queue.
        queue_order: QueueOrder = word().default(QueueOrder::Fifo);
        all_of NodeAccess, inherits "[cell]";
    }
}

/// Access category (802.11 EDCA), in order of priority: the later wins internal collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE, and DCF.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl Category {
    /// All, lowest priority first.
    pub const ALL: [Category; 4] = [
        Category::Background,
        Category::BestEffort,
        Category::Video,
        Category::Voice,
    ];

    /// Its name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Background => "background",
            Category::BestEffort => "best-effort",
            Category::Video => "video",
            Category::Voice => "voice",
        }
    }
}

/// The usual one stands first.
impl Words for Category {
    const WORDS: &'static [&'static str] = &[
        Category::BestEffort.name(),
        Category::Background.name(),
        Category::Video.name(),
        Category::Voice.name(),
    ];
}

impl Setting for Category {
    fn of(value: &Value) -> Option<Category> {
        match value {
            Value::Word(word) => Category::ALL.into_iter().find(|one| one.name() == *word),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        Json::from(self.name())
    }
}

impl From<Category> for crate::notation::table::Default {
    fn from(category: Category) -> Self {
        Self::Text(category.name())
    }
}

/// 2 is DIFS, the least at a station, and 15 the greatest that 802.11e can announce; one below is
/// PIFS, for the access point.
pub(crate) const AIFSN_EXPECTED: &str =
    "a whole number from 2 to 15, and 1, which is PIFS, for the access point only";

/// The contention keys, with what holds if one is absent: the kinds, ranges and documentation of all
/// four categories are the same.
macro_rules! contention {
    (
        $(#[doc = $doc:literal])+
        $name:ident in $table:literal: $aifsn:ident($($aifsn_is:tt)*), $cwmin:ident($($cwmin_is:tt)*),
        $cwmax:ident($($cwmax_is:tt)*), $packets:ident($($packets_are:tt)*), $limit:ident($($limit_is:tt)*)
        $(; $($more:tt)+)?
    ) => {
        table! {
            $(#[doc = $doc])+
            pub struct $name: Copy in $table {
                /// Arbitration interframe space number (AIFSN). 2 is DIFS. 1 is PIFS, which only the access point may use.
                aifsn: Option<u32> = count(1..=15).but(AIFSN_EXPECTED).$aifsn($($aifsn_is)*);
                /// Smallest contention window in slots. The backoff is uniform on [0, CW].
                cwmin: Option<u32> = count(0..=32_767).$cwmin($($cwmin_is)*);
                /// Largest contention window in slots.
                cwmax: Option<u32> = count(0..=32_767).$cwmax($($cwmax_is)*);
                /// Largest number of frames in a transmission opportunity (TXOP). The node that wins the medium sends up to this many frames, SIFS apart.
                txop_packets: Option<u32> = count(1..=65_535).$packets($($packets_are)*);
                /// Duration of the longest transmission opportunity (TXOP), from the start of its first frame to the end of its last MAC ACK.
                txop_limit: Option<Span> = duration(US..=10 * S).or("none").$limit($($limit_is)*);
                $($($more)+)?
            }
        }
    };
}

contention! {
    /// Contention of a node, which is that of category best effort.
    Contention in "contention":
    by_preset(|| per_preset(|preset| preset.aifsn.to_string())),
    by_preset(|| per_preset(|preset| preset.cwmin.to_string())),
    by_preset(|| per_preset(|preset| preset.cwmax.to_string())),
    depends("1 frame, or no limit in frames if there is a txop_limit"),
    by_preset(|| per_preset(|preset| preset.txop_limit.map_or("none".to_owned(), time_of)))
}

contention! {
    /// Access category voice, which wins internal collisions with all others.
    Voice in "voice":
    depends("the value in [cell.voice], else 2"),
    depends("the value in [cell.voice], else (c + 1) / 4 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.voice], else (c + 1) / 2 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.voice], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.voice], else \"none\"; in 802.11n, ac and ax 2.08 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node. Unless this table sets mpdus, there are no aggregates of MPDUs, whatever is set for the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node with mpdus = 1, because Linux starts no block acknowledgement session for voice");
}

contention! {
    /// Access category video, which yields to voice in internal collisions.
    Video in "video":
    depends("the value in [cell.video], else 2"),
    depends("the value in [cell.video], else (c + 1) / 2 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.video], else the cwmin of best effort"),
    depends("the value in [cell.video], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.video], else \"none\"; in 802.11n, ac and ax 4.096 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node");
}

contention! {
    /// Access category background, which yields to all others in internal collisions.
    Background in "background":
    depends("the value in [cell.background], else 7"),
    depends("the value in [cell.background], else the cwmin of best effort"),
    depends("the value in [cell.background], else the cwmax of best effort"),
    depends("the value in [cell.background], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.background], else \"none\"; in 802.11n, ac and ax 2.528 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node");
}

table! {
    /// Medium access of any node. The contention keys are those of category best effort.
    pub struct NodeAccess: Copy in "access" {
        /// Highest rate of MAC ACK, RTS and CTS frames. These frames are never faster than the data frame to which they belong.
        control_rate_bps as "control_rate": Option<u64> =
            listed(&CONTROL_RATE).by_preset(|| per_preset(|preset| rate_of(preset.control_rate_bps)));
        /// Contention of category best effort.
        flat contention: Contention;
        /// Largest number of attempts for RTS and for frames up to the RTS threshold, including the first attempt.
        attempts_short: u32 = count(1..=255).default(7);
        /// Largest number of attempts for frames longer than the RTS threshold, including the first attempt.
        attempts_long: u32 = count(1..=255).default(4);
        /// Access parameters of category voice, which has the highest priority.
        key voice: Voice = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Access parameters of category video, which has the second-highest priority.
        key video: Video = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Access parameters of category background, which has the lowest priority.
        key background: Background = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Aggregation of 802.11n, ac and ax. The table of a category may have keys of its own. Category voice has no aggregates of MPDUs unless voice.aggregation.mpdus is set.
        key aggregation: AggregationKeys = inner().depends("the defaults of the table's keys");
    }
}

/// Access parameters of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Arbitration interframe space number; 2 is DIFS, 1 is PIFS.
    pub aifsn: u32,
    /// Smallest contention window; backoff is uniform on [0, CW].
    pub cwmin: u32,
    /// Largest contention window.
    pub cwmax: u32,
    /// Most frames in one transmission opportunity, at least 1; `None`: no limit in frames.
    pub txop_packets: Option<u32>,
    /// Longest transmission opportunity, from the start of its first frame to the end of its last
    /// MAC ACK; the first frame is always allowed. `None`: no limit in time.
    pub txop_limit: Option<Span>,
}

/// Medium access of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Highest rate of MAC ACK, RTS and CTS frames ([`super::rates`]). [bit/s]
    pub control_rate_bps: u64,
    /// Access parameters of the category that traffic uses unless it says otherwise (DCF).
    pub best_effort: Access,
    /// Access parameters of category background.
    pub background: Access,
    /// Access parameters of category video.
    pub video: Access,
    /// Access parameters of category voice.
    pub voice: Access,
    /// Attempts (first one included) for RTS and for frames up to the RTS threshold.
    pub attempts_short: u32,
    /// Attempts (first one included) for frames longer than the RTS threshold.
    pub attempts_long: u32,
    /// Each category's queue.
    pub queue: QueueSetting,
    /// Aggregates, in a cell that has them.
    pub aggregation: Option<Box<Aggregations>>,
}

/// One station.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Unique name.
    pub name: String,
    /// Name of the table in the file it came from (equals `name` without `count`).
    pub group: String,
    /// Rate of data frames from the station. [bit/s]
    pub rate_bps: u64,
    /// Rate of data frames to the station. [bit/s]
    pub downlink_rate_bps: u64,
    /// Its physical layer: the cell's, or an older one.
    pub phy: PhyKind,
    /// How data frames to and from it are modulated, both ways, if it is one that aggregates.
    pub modulation: Option<Modulation>,
    /// Whether its signal-to-noise ratio chooses the MCS.
    pub mcs_by_snr: bool,
    /// Medium access.
    pub node: Node,
    /// What channel errors do to its frames from the start of the run on.
    pub channel: Channel,
    /// What they do later, in order of time.
    pub channel_changes: Vec<ChannelChange>,
    /// For how long it stays awake after its last frame, if it sleeps.
    pub power_save: Option<Span>,
    /// How it answers pings from the start of the run on.
    pub echo: Echo,
    /// How it does later, in order of time.
    pub echo_changes: Vec<EchoChange>,
}

impl Station {
    /// Whether channel errors lose some of its frames, at some time.
    pub fn has_errors(&self) -> bool {
        let mut changes = self.channel_changes.iter();
        self.channel.has_errors() || changes.any(|change| change.channel.has_errors())
    }
}

impl Station {
    /// Whether a signal-to-noise ratio decides its losses.
    pub fn hears_noise(&self) -> bool {
        self.channel.snr_db.is_some()
    }

    /// Probability that noise destroys a frame of `bytes`, one way, at a ratio. [-]
    pub fn frame_error(&self, way: Direction, bytes: u32, snr_db: f64) -> f64 {
        match (&self.modulation, way) {
            (Some(modulation), _) if self.mcs_by_snr => {
                modulation.best_for(snr_db).frame_error(bytes, snr_db)
            }
            (Some(modulation), _) => modulation.frame_error(bytes, snr_db),
            (None, Direction::Up) => frame_error(self.rate_bps, bytes, snr_db),
            (None, Direction::Down) => frame_error(self.downlink_rate_bps, bytes, snr_db),
        }
    }
}

impl Node {
    /// Access parameters of `category`.
    pub fn access(&self, category: Category) -> &Access {
        match category {
            Category::Background => &self.background,
            Category::BestEffort => &self.best_effort,
            Category::Video => &self.video,
            Category::Voice => &self.voice,
        }
    }

    /// Aggregation of `category`, none in a cell without aggregates.
    pub fn aggregation(&self, category: Category) -> &Aggregation {
        let own = self.aggregation.as_ref();
        own.map_or(&Aggregation::OFF, |own| own.of(category))
    }

    /// Medium access of the node that the tables describe, nearest first.
    pub(crate) fn read(
        layers: &Layers,
        usual: Usual,
        queue: QueueSetting,
    ) -> Result<Node, Refused> {
        let access = |category| Access::read(layers.0, usual, category);
        let control = layers.value(NodeAccess::control_rate_bps)?.flatten();
        Ok(Node {
            control_rate_bps: control.unwrap_or(Preset::of(usual.phy).control_rate_bps),
            best_effort: access(Category::BestEffort)?,
            background: access(Category::Background)?,
            video: access(Category::Video)?,
            voice: access(Category::Voice)?,
            attempts_short: layers.need(NodeAccess::attempts_short)?,
            attempts_long: layers.need(NodeAccess::attempts_long)?,
            queue,
            aggregation: match usual.phy.generation() {
                None => None,
                Some(generation) => Some(Box::new(Aggregations::read(layers, generation)?)),
            },
        })
    }

    /// The settings in the normalised scenario.
    pub(crate) fn json(&self) -> JsonObject {
        let mut json = JsonObject::new();
        json.insert("control_rate_bps".to_owned(), self.control_rate_bps.into());
        json.extend(self.best_effort.json());
        json.insert("attempts_short".to_owned(), self.attempts_short.into());
        json.insert("attempts_long".to_owned(), self.attempts_long.into());
        json.insert("queue_packets".to_owned(), self.queue.most_packets().into());
        json.insert("queue".to_owned(), self.queue.to_json());
        let usual = self.aggregation(Category::BestEffort);
        for category in [Category::Voice, Category::Video, Category::Background] {
            let mut access = self.access(category).json();
            let own = self.aggregation(category);
            if own != usual {
                access.insert("aggregation".to_owned(), own.json());
            }
            json.insert(category.name().to_owned(), access.into());
        }
        if self.aggregation.is_some() {
            json.insert("aggregation".to_owned(), usual.json());
        }
        json
    }
}

/// The access point, whose queue may have a discipline that stations' queues may not.
fn access_point(layers: &Layers) -> Result<Node, Refused> {
    let ap = layers.inside(Cell::ap);
    let tables: Vec<&Section> = ap.layers().0.iter().chain(layers.0).copied().collect();
    let own = ap.layers().0.first();
    let own = own.map(|ap| QueueSetting::at(ap, ApTable::queue));
    let queue = match own.transpose()?.flatten() {
        Some(queue) => queue,
        None => {
            let of_cell = layers
                .0
                .first()
                .map(|cell| QueueSetting::at(cell, Cell::ap_queue));
            let usual = Preset::of(layers.need(Phy::kind)?).ap_queue_packets;
            let of_cell = of_cell.transpose()?.flatten();
            of_cell.unwrap_or(QueueSetting::drop_tail(usual))
        }
    };
    Node::read(&Layers(&tables), Usual::of(layers, true)?, queue)
}

fn ap_queue_order(layers: &Layers) -> Result<QueueOrder, Refused> {
    let ap = layers.inside(Cell::ap);
    ap.layers().need(ApTable::queue_order)
}

impl Access {
    /// Contention parameters alone, one frame a transmission opportunity.
    pub const fn contention(aifsn: u32, cwmin: u32, cwmax: u32) -> Access {
        Access {
            aifsn,
            cwmin,
            cwmax,
            txop_packets: Some(1),
            txop_limit: None,
        }
    }

    /// Tables to look a category's keys up in, nearest first: those of the node and of the cell
    /// themselves for best effort, else their tables of that name.
    pub(crate) fn tables<'a>(node: &[&'a Section], category: Category) -> Vec<&'a Section> {
        match category {
            Category::BestEffort => node.to_vec(),
            Category::Background | Category::Video | Category::Voice => {
                let inside = node.iter().filter_map(|table| table.table(category.name()));
                inside.collect()
            }
        }
    }

    /// Access parameters of `category` at the node with the tables `node`, nearest first.
    pub(crate) fn read(
        node: &[&Section],
        usual: Usual,
        category: Category,
    ) -> Result<Access, Refused> {
        let best_effort = over(node, usual.best_effort())?;
        match category {
            Category::BestEffort => Ok(best_effort),
            Category::Background | Category::Video | Category::Voice => {
                let usual = usual.other(category, best_effort);
                over(&Access::tables(node, category), usual)
            }
        }
    }

    fn json(&self) -> JsonObject {
        let contention = Contention {
            aifsn: Some(self.aifsn),
            cwmin: Some(self.cwmin),
            cwmax: Some(self.cwmax),
            txop_packets: self.txop_packets,
            txop_limit: self.txop_limit,
        };
        match FileTable::json(&contention) {
            Json::Object(json) => json,
            _ => JsonObject::new(), // a table is an object
        }
    }
}

/// What access parameters are where no table gives them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usual {
    phy: PhyKind,
    edca: EdcaDefaults,
    at_ap: bool,
}

impl Usual {
    /// At the access point of a cell, or at its stations.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn of(cell: &Layers, at_ap: bool) -> Result<Usual, Refused> {
        Ok(Usual {
            phy: cell.need(Phy::kind)?,
            edca: cell.need(PpduKeys::edca)?,
            at_ap,
        })
    }

    fn best_effort(self) -> Access {
        let Preset {
            cwmin,
            cwmax,
            aifsn,
            txop_limit,
            ..
        } = *Preset::of(self.phy);
        let usual = Access::contention(aifsn, cwmin, cwmax);
        match (self.phy.generation(), self.edca) {
            (None, _) => usual,
            (_, EdcaDefaults::Standard) => usual.up_to(txop_limit),
            (_, EdcaDefaults::Hostapd) if self.at_ap => Access { cwmax: 63, ..usual },
            (_, EdcaDefaults::Hostapd) => usual,
        }
    }

    /// A category's defaults, given best effort's parameters.
    fn other(self, category: Category, best_effort: Access) -> Access {
        let usual = derived(category, best_effort);
        let ms = |us| Some(Span(us * US));
        match (self.phy.generation(), self.edca, category) {
            (None, ..) | (_, _, Category::BestEffort) => usual,
            (_, EdcaDefaults::Standard, Category::Background) => {
                usual.up_to(Preset::of(self.phy).txop_limit)
            }
            (_, EdcaDefaults::Standard, Category::Video) => usual.up_to(ms(4_096)),
            (_, EdcaDefaults::Standard, Category::Voice) => usual.up_to(ms(2_080)),
            (_, EdcaDefaults::Hostapd, Category::Background) => Access::contention(7, 15, 1_023),
            (_, EdcaDefaults::Hostapd, Category::Video) => {
                Access::contention(if self.at_ap { 1 } else { 2 }, 7, 15).up_to(ms(3_008))
            }
            (_, EdcaDefaults::Hostapd, Category::Voice) => {
                Access::contention(if self.at_ap { 1 } else { 2 }, 3, 7).up_to(ms(1_504))
            }
        }
    }
}

impl Access {
    /// The same with opportunities of at most this time, however many frames.
    const fn up_to(self, txop_limit: Option<Span>) -> Access {
        Access {
            txop_packets: if txop_limit.is_some() { None } else { Some(1) },
            txop_limit,
            ..self
        }
    }
}

/// What the tables give, the rest as in `defaults`; the keys of all categories have the same names.
fn over(tables: &[&Section], defaults: Access) -> Result<Access, Refused> {
    let layers = Layers(tables);
    let txop_limit = layers.value(Contention::txop_limit)?;
    let txop_limit = txop_limit.unwrap_or(defaults.txop_limit);
    let number = |key, usual| Ok(layers.value(key)?.flatten().unwrap_or(usual));
    Ok(Access {
        aifsn: number(Contention::aifsn, defaults.aifsn)?,
        cwmin: number(Contention::cwmin, defaults.cwmin)?,
        cwmax: number(Contention::cwmax, defaults.cwmax)?,
        txop_packets: match layers.value(Contention::txop_packets)?.flatten() {
            None if txop_limit.is_none() => Some(1),
            given => given,
        },
        txop_limit,
    })
}

/// A category's defaults, given best effort's parameters (IEEE 802.11-2016, Table 9-137, with
/// aCWmin and aCWmax the windows of best effort).
fn derived(category: Category, best_effort: Access) -> Access {
    let Access { cwmin, cwmax, .. } = best_effort;
    let part = |n: u32| (cwmin.saturating_add(1) / n).saturating_sub(1);
    match category {
        Category::Background => Access::contention(7, cwmin, cwmax),
        Category::BestEffort => best_effort,
        Category::Video => Access::contention(2, part(2), cwmin),
        Category::Voice => Access::contention(2, part(4), part(2)),
    }
}
