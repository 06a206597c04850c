//! What a file says of stations in power save, and of the access point that keeps their frames
//! (IEEE 802.11-2016, 11.2.3).

use crate::kernel::time::Span;
use crate::notation::setting::{MS, S, count, duration};
use crate::table;

table! {
    /// How the access point serves stations in power save.
    pub struct PowerSave: Copy in "power_save" {
        /// Time from one beacon to the next; the first one is at the start of the run. Beacons themselves take no air time.
        beacon_interval: Span = duration(MS..=100 * S).default("102.4 ms");
        /// Most packets that the access point keeps for each station that sleeps; if there are more, the oldest is lost.
        power_save_queue_packets as "power_save_queue": u32 = count(1..=100_000).default(64);
    }
}

table! {
    /// Whether a station sleeps.
    pub struct SleepKeys: Copy in "sleep" {
        /// Power save: how long the station stays awake after its last frame either way, before it sleeps until a beacon tells it of packets; "100 ms" is what Linux does. With "0 s" its own frames do not wake it either.
        power_save: Option<Span> = duration(0..=100 * S).or("off").default("off");
    }
}
