//! Settings of a cell: its physical layer, and the medium access of its access point.

use super::ppdu_keys::PpduKeys;
use super::presets::{per_preset, size_of, usual_rates};
use super::{
    AccessDefaults, CountdownRule, DATA_RATE, NOT_MODELLED, Node, NodeAccess, Phy, PowerSave,
    Ppdus, Preset, RateControl, StreamKeys,
};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{MS, US, duration, flag, inner, listed, name, size, word};
use crate::queue::{ApQueue, QueueSetting, SharingClass, ap_queue, queue};
use crate::{table, words};

words! {
    /// Wait of a node whose frame collided with a longer frame.
    pub enum ColliderWait {
        /// AIFS: a node that sends receives nothing, and so no frame in error (IEEE 802.11-2016, 10.3.2.3.7).
        Aifs = "aifs",
        /// EIFS, which is also the wait of nodes that did not transmit. It applies even if the colliding frames end simultaneously (as in ns-2).
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
        /// Wait of a node whose frame collided with a frame that ends later, if ack_timeout is not "eifs". "aifs": AIFS, because the node has received no frame in error. "eifs": EIFS, even if both frames end simultaneously, as in ns-2.
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

/// Returns the access point that the tables of the cell describe. The queue of the access point may
/// have disciplines that the queues of stations may not have.
fn access_point(layers: &Layers) -> Result<Node, Refused> {
    let ap = layers.inside(Cell::ap);
    let tables: Vec<&Section> = ap.layers().0.iter().chain(layers.0).copied().collect();
    let own = ap.layers().0.first();
    let own = own.map(|ap| QueueSetting::at(ap, ApTable::queue));
    let of_cell = layers.0.first();
    let of_cell = of_cell.map(|cell| QueueSetting::at(cell, Cell::ap_queue));
    let default = Preset::of(layers.need(Phy::kind)?).ap_queue_packets;
    let queue = match own.transpose()?.flatten() {
        Some(queue) => queue,
        None => (of_cell.transpose()?.flatten()).unwrap_or(QueueSetting::drop_tail(default)),
    };
    Node::read(&Layers(&tables), AccessDefaults::of(layers, true)?, queue)
}

fn ap_queue_order(layers: &Layers) -> Result<QueueOrder, Refused> {
    let ap = layers.inside(Cell::ap);
    ap.layers().need(ApTable::queue_order)
}
