//! Settings of power save for stations, and for the access point, which keeps the frames of
//! sleeping stations (IEEE 802.11-2016, 11.2.3).

use crate::kernel::time::Span;
use crate::notation::setting::{MS, S, count, duration};
use crate::table;

table! {
    /// Service of stations in power save by the access point.
    pub struct PowerSave: Copy in "power_save" {
        /// Time between two beacons. The first beacon is at the start of the run. Beacons use no air time.
        beacon_interval: Span = duration(MS..=100 * S).default("102.4 ms");
        /// Largest number of packets that the access point keeps for each sleeping station. If there are more, the oldest packet is lost.
        power_save_queue_packets as "power_save_queue": u32 = count(1..=100_000).default(64);
    }
}

table! {
    /// Power save of a station.
    pub struct SleepKeys: Copy in "sleep" {
        /// Time for which the station stays awake after its last frame in either direction; Linux uses "100 ms". The station then sleeps until a beacon announces packets. With "0 s" the station does not wake up when it sends frames either.
        power_save: Option<Span> = duration(0..=100 * S).or("off").default("off");
    }
}
