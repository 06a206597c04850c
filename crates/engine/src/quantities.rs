//! The registry of what is measured: every quantity once, with unit, lists and definition.

use serde::Serialize;

/// One measured quantity.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantity {
    /// Name with unit, as in results.
    pub name: &'static str,
    /// Unit; `-` if it has none.
    pub unit: &'static str,
    /// Result lists whose items carry it.
    pub lists: &'static [&'static str],
    /// What is averaged or counted, over the time after the warm-up.
    pub definition: &'static str,
}

impl Quantity {
    /// One value of it; `None` where a replication gives none.
    pub fn of(&self, value: impl Into<Option<f64>>) -> (&'static str, Option<f64>) {
        (self.name, value.into())
    }
}

/// Each quantity as a constant, and all of them in the order given.
macro_rules! registry {
    ($($constant:ident: $name:literal, $unit:literal, $lists:expr, $definition:literal;)*) => {
        $(
            #[doc = $definition]
            pub const $constant: Quantity = Quantity {
                name: $name,
                unit: $unit,
                lists: &$lists,
                definition: $definition,
            };
        )*

        /// All quantities, in the order in which results give them.
        pub const QUANTITIES: &[Quantity] = &[$($constant),*];
    };
}

/// Probabilities and parts of a whole: the conservation checks assert that each lies in [0, 1].
pub const FRACTIONS: [Quantity; 19] = [
    GOODPUT_SHARE,
    LOSS_PROBABILITY,
    REPORT_DELIVERY,
    AIRTIME_FRACTION,
    DUMMY_FRACTION,
    COLLISION_RATE,
    FRAME_FAILURE_RATE,
    DISCARD_PROBABILITY,
    DOWNLINK_FAILURE_RATE,
    DOWNLINK_DISCARD_PROBABILITY,
    TARGET_SHARE,
    QUEUE_SHARE,
    EMPTY_FRACTION,
    DROP_PROBABILITY,
    MARK_PROBABILITY,
    UTILISATION,
    UTILISATION_MIN,
    PING_LOSS_PROBABILITY,
    BUSY_FRACTION,
];

// name, unit, lists, and below them the definition
registry! {
    GOODPUT: "goodput_bps", "bit/s", ["flows", "stations", "cells", "classes"],
        "payload handed to the application in order, per time; the sum over the item's flows";
    GOODPUT_SHARE: "goodput_share", "-", ["flows", "stations", "classes"],
        "the item's part of the goodput of all flows";
    FAIRNESS_LEVEL: "fairness_level", "-", ["stations"],
        "goodput of the first station whose demand is not met over this station's, eta_1j; absent if this station's demand is met. The demand of a flow is met if it has a rate of its own, at most 1 % of its datagrams are lost, and those under way do not pile up. Reports of sensors ask for no share. The demand of a station is met if none of its flows asks for more";
    RTT: "rtt_s", "s", ["flows", "classes"],
        "mean of the round-trip samples of a TCP flow, one an ACK of new data; of a class over the samples of all its TCP flows, of a user of a CSMA network over those of all its connections; in a series over the samples of the interval";
    RTT_P95: "rtt_p95_s", "s", ["flows"],
        "95th percentile of those samples, at most 0.2 % above the exact one; measured if asked for (--tails, simulate(tails=True))";
    RTT_P99: "rtt_p99_s", "s", ["flows"],
        "99th percentile of those samples, likewise";
    ONE_WAY_DELAY: "one_way_delay_s", "s", ["flows", "classes"],
        "mean time from source to sink of a UDP flow's datagrams, or a class's, per datagram";
    ONE_WAY_DELAY_P99: "one_way_delay_p99_s", "s", ["flows", "classes"],
        "99th percentile of those times, at most 0.2 % above the exact one; of a class over the datagrams of all its UDP flows";
    CWND: "cwnd_packets", "packets", ["flows", "classes"],
        "time average of the congestion window of a TCP flow, from its start until all that it had to send was acknowledged; of a class over the flows that have begun and are not finished";
    CWND_MAX: "cwnd_max_packets", "packets", ["flows"],
        "largest congestion window of a TCP flow, in cells with channel errors";
    LOSS_PROBABILITY: "loss_probability", "-", ["flows", "classes"],
        "segments or datagrams lost (queues, wire, attempt limit) over those that were lost or have arrived; each counts when it is lost or arrives. Those under way at the end do not count";
    RETRANSMISSIONS: "retransmissions", "packets", ["flows"],
        "segments sent again";
    REPORTS: "reports", "reports", ["flows"],
        "reports that a sensor made, those made less than a deadline before the end not counted";
    REPORT_DELIVERY: "report_delivery", "-", ["flows"],
        "part of a sensor's reports that arrived by their deadline";
    REPORT_DELAY: "report_delay_s", "s", ["flows"],
        "mean time from the making of a report to its arrival, of those that arrived by their deadline";
    REPORT_DELAY_P95: "report_delay_p95_s", "s", ["flows"],
        "95th percentile of those times";
    CONNECTIONS: "connections", "connections", ["flows", "links"],
        "TCP connections that a flow over CSMA links has open, time average from its start to its stop; of a link those of the flows that pass it, over all the time";
    CONNECTIONS_OPENED: "connections_opened", "connections", ["flows"],
        "TCP connections that a flow over CSMA links opened";
    CONNECTIONS_CLOSED: "connections_closed", "connections", ["flows"],
        "TCP connections that a flow over CSMA links closed";
    AIRTIME_FRACTION: "airtime_fraction", "-", ["links", "stations"],
        "part of the time that a CSMA link is sending, failed transmissions included; of a station in a cell that aggregates, that PPDUs with data for it and from it are on the air, those that fail included, without RTS, responses and gaps; PPDUs that collide count for the station of each, so that the sum over stations may exceed 1";
    DUMMY_FRACTION: "dummy_fraction", "-", ["links"],
        "part of the time that a CSMA link is sending dummy packets, which airtime_fraction includes";
    AGGRESSIVENESS: "aggressiveness", "-", ["links"],
        "time average of a CSMA link's r: its mean backoff is exp(-beta r) of a transmission, and with AQM it drops arriving packets with this probability";
    CONNECTIONS_FINISHED: "connections_finished", "connections", ["classes"],
        "web connections whose response has arrived in full";
    CONNECTIONS_REFUSED: "connections_refused", "connections", ["classes"],
        "web connections that did not begin since 10000 of the class were open";
    COMPLETION: "completion_s", "s", ["flows", "classes"],
        "time from the start of a finite flow to the last ACK, which may have waited for the receiver's delayed-ACK timer, of a web connection from its SYN to the end of the response; mean over those of a class that were finished";
    COMPLETION_P95: "completion_p95_s", "s", ["classes"],
        "95th percentile of those completion times; of web connections at most 0.2 % above the exact one";
    UNFINISHED: "unfinished", "flows", ["flows", "classes"],
        "finite flows, or web connections, that were not finished at the end";
    TRANSFER_RATE: "transfer_rate_bps", "bit/s", ["classes"],
        "payload of a finite flow over its completion time, mean over those of a class that were finished";
    BYPASS: "bypass_packets", "packets", ["stations"],
        "uplink datagrams of the station that pass beside a virtual shared bottleneck";
    COLLISION_RATE: "collision_rate", "-", ["stations", "aps", "links"],
        "collided transmission attempts over all attempts, counted when they end";
    FRAME_FAILURE_RATE: "frame_failure_rate", "-", ["stations", "aps", "links"],
        "attempts that collided or were corrupted over all attempts, counted when they end";
    DISCARD_PROBABILITY: "discard_probability", "-", ["stations", "aps", "links"],
        "frames given up at the attempt limit over frames delivered or given up";
    DOWNLINK_FAILURE_RATE: "downlink_failure_rate", "-", ["stations"],
        "attempts of the access point to the station that collided or were corrupted over all to it, in cells with channel errors";
    DOWNLINK_DISCARD_PROBABILITY: "downlink_discard_probability", "-", ["stations"],
        "frames to the station given up at the attempt limit over those delivered or given up, in cells with channel errors";
    MPDUS_PER_PPDU: "mpdus_per_ppdu", "MPDUs", ["stations", "aps"],
        "mean number of MPDUs in the PPDUs with data that the node sent, received or not, in cells that aggregate";
    REORDERING: "reordering_s", "s", ["stations", "aps"],
        "mean time from the end of the PPDU that brought a packet of the node's until its receiver handed it up in order, in cells that aggregate";
    DOWNLINK_MPDUS_PER_PPDU: "downlink_mpdus_per_ppdu", "MPDUs", ["stations"],
        "mean number of MPDUs in the access point's PPDUs to the station, in cells that aggregate";
    DOWNLINK_REORDERING: "downlink_reordering_s", "s", ["stations"],
        "mean time from the end of the PPDU that brought a packet to the station until it was handed up in order, in cells that aggregate";
    QUEUE: "queue_packets", "packets", ["stations", "aps"],
        "time average of the packets in the node's queue, the one in service included";
    OCCUPANCY: "occupancy_packets", "packets", ["queues", "classes"],
        "time average of the packets in the queue, the one in service included; of a class its own in the shared queue";
    TARGET_SHARE: "target_share", "-", ["classes"],
        "share h* of a class that shares the access point's queue, among all classes: what the file says over the sum of all";
    QUEUE_SHARE: "queue_share", "-", ["classes"],
        "the class's part of the packets of all classes in the shared queue, time averages";
    OCCUPANCY_ERROR: "occupancy_error_packets", "packets", ["queues"],
        "root of the mean squared distance of a shared queue from its target occupancy, over time";
    EMPTY_FRACTION: "empty_fraction", "-", ["queues"],
        "part of the time a shared queue holds no packet";
    SETTLING: "settling_s", "s", ["queues"],
        "time from the first packet of the run until a shared queue was within the tolerance of its target occupancy";
    OCCUPANCY_MAX: "occupancy_max_packets", "packets", ["queues"],
        "most packets that a wired link's queue held, the one in service included";
    OCCUPANCY_SD: "occupancy_sd_packets", "packets", ["queues"],
        "standard deviation of a wired link's queue, read once a bin (record.utilisation_bin)";
    DROP_PROBABILITY: "drop_probability", "-", ["queues", "classes"],
        "packets that the queue refused or dropped over those that its discipline has judged, on arrival or, if it drops at the head, on departure; of a class its own at the shared queue";
    MARK_PROBABILITY: "mark_probability", "-", ["queues"],
        "packets marked over those that the discipline of the queue has judged, on arrival or, if it drops at the head, on departure; of a queue that may mark";
    SOJOURN: "sojourn_s", "s", ["queues"],
        "mean time in the queue, service included, per packet that left it";
    SOJOURN_P99: "sojourn_p99_s", "s", ["queues"],
        "99th percentile of those times in a cell's queue, at most 0.2 % above the exact one; measured if asked for (--tails, simulate(tails=True))";
    UTILISATION: "utilisation", "-", ["links"],
        "part of the time the wired link sends; where it follows a trace, part of the bytes of its opportunities that it uses";
    UTILISATION_MIN: "utilisation_min", "-", ["links"],
        "least part of a bin of time (record.utilisation_bin) that the wired link sends";
    CAPACITY: "capacity_bps", "bit/s", ["links"],
        "time average of the rate C of a virtual shared bottleneck, from its start on";
    PING_RTT: "ping_rtt_s", "s", ["links"],
        "mean round-trip time of the pings beside a virtual shared bottleneck";
    PING_RTT_P95: "ping_rtt_p95_s", "s", ["links"],
        "95th percentile of those round-trip times, at most 0.2 % above the exact one";
    PING_LOSS_PROBABILITY: "ping_loss_probability", "-", ["links"],
        "pings lost, or ignored by their station, over these and the answered pings";
    ACTIVE_STATIONS: "active_stations", "stations", ["cells"],
        "time average of the number of stations (not the AP) with a frame to send";
    JAIN: "jain", "-", ["cells", "classes"],
        "Jain's fairness index of the goodputs of the stations whose demand is not met (see fairness_level), or of the class's flows that have begun, are not finished and ask for more; absent with fewer than two. The goodput of a flow is over the time in which it existed";
    SYNCHRONISATION: "synchronisation", "-", ["classes"],
        "correlation of the windows of a class's TCP flows, read once a bin: covariances of all pairs over the products of their standard deviations; 1: they swing together, 0: each for itself";
    STARVED_FLOWS: "starved_flows", "flows", ["classes"],
        "flows of the class, begun and not finished, whose demand is not met and that have less than a tenth of the mean goodput of such flows, each over the time in which it existed";
    JAIN_P05: "jain_p05", "-", ["cells"],
        "5th percentile of Jain's index over windows of 1 s, over the stations of which a flow that asks for more could send in all of the window; measured if asked for (--tails, simulate(tails=True))";
    LONGEST_STARVED: "longest_starved_s", "s", ["stations"],
        "longest time, in windows of 1 s, that a station got less than a tenth of an equal share of what those stations got; absent where its demand is met; measured if asked for (--tails, simulate(tails=True))";
    UPDOWN_RATIO: "updown_ratio", "-", ["cells"],
        "goodput of all upstream flows over that of all downstream flows";
    BUSY_FRACTION: "busy_fraction", "-", ["cells"],
        "part of the time in which an exchange (first frame to MAC ACK) or a collision is on the air";
    STABLE: "stable", "-", ["stability"],
        "whether a small disturbance of the point of rest of a queue and its flows dies out";
    RIGHTMOST_ROOT: "rightmost_root", "1/s", ["stability"],
        "characteristic root that decides it: its real part is the rate of growth, its imaginary part the angular frequency";
    PERIOD: "period_s", "s", ["stability"],
        "period of the swing that dies out last or grows; of a run, the period at which the queue's trace is most like itself";
    PACKETS_DELIVERED: "packets_delivered", "packets", ["totals"],
        "segments and datagrams handed to the application, in order";
    LATENESS_P99: "lateness_p99_s", "s", ["totals"],
        "of an emulation: 99th percentile of the time by which packets reached their node after they were due";
    PROCESSOR_WAIT: "processor_wait", "-", ["totals"],
        "of an emulation: part of the time for which what drives the flows' sockets waited for a processor";
    CARRIED: "carried_pps", "packets/s", ["totals"],
        "of an emulation: packets handed over to their nodes or lost on the way, per time";
    AT_WORK: "at_work_fraction", "-", ["totals"],
        "of an emulation: part of the time in which what carries the packets was not asleep";
    AT_ONCE: "packets_at_once", "packets", ["totals"],
        "of an emulation: most packets that were due at their nodes in the same instant, as those of a PPDU are";
    FOREIGN: "foreign_packets", "packets", ["totals"],
        "of an emulation: packets of the kernel that belong to no flow of the scenario, and were left out";
    EVENTS: "events", "events", ["totals"],
        "events processed in the whole replication, warm-up included";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new quantity without a unit is a fraction, or is listed here.
    #[test]
    fn quantities_without_a_unit_are_fractions_or_listed() {
        let others = [
            FAIRNESS_LEVEL,
            AGGRESSIVENESS,
            JAIN, // at most 1 but for rounding
            JAIN_P05,
            SYNCHRONISATION,
            UPDOWN_RATIO,
            STABLE,
            PROCESSOR_WAIT,
            AT_WORK,
        ];
        for quantity in QUANTITIES {
            let is_in = |list: &[Quantity]| list.iter().any(|one| one.name == quantity.name);
            let known = is_in(&FRACTIONS) != is_in(&others);
            assert_eq!(known, quantity.unit == "-", "{}", quantity.name);
        }
    }
}
