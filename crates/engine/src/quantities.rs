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
    ($($constant:ident { $($field:ident: $value:expr,)* })*) => {
        $(
            #[doc = concat!("The quantity `", stringify!($constant), "`.")]
            pub const $constant: Quantity = Quantity { $($field: $value),* };
        )*

        /// All quantities, in the order in which results give them.
        pub const QUANTITIES: &[Quantity] = &[$($constant),*];
    };
}

registry! {
    GOODPUT {
        name: "goodput_bps",
        unit: "bit/s",
        lists: &["flows", "stations", "cells", "classes"],
        definition: "payload handed to the application in order, per time; the sum over the item's flows",
    }
    GOODPUT_SHARE {
        name: "goodput_share",
        unit: "-",
        lists: &["flows", "stations", "classes"],
        definition: "the item's part of the goodput of all flows",
    }
    FAIRNESS_LEVEL {
        name: "fairness_level",
        unit: "-",
        lists: &["stations"],
        definition: "goodput of the first station over this one's, eta_1j",
    }
    RTT {
        name: "rtt_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "mean of the round-trip samples of a TCP flow, one an ACK of new data; of a class over the samples of all its TCP flows, of a user of a CSMA network over those of all its connections; in a series over the samples of the interval",
    }
    ONE_WAY_DELAY {
        name: "one_way_delay_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "mean time from source to sink of a UDP flow's datagrams, or a class's, per datagram",
    }
    CWND {
        name: "cwnd_packets",
        unit: "packets",
        lists: &["flows", "classes"],
        definition: "time average of the congestion window of a TCP flow; mean over the flows of a class that have begun and are not finished",
    }
    CWND_MAX {
        name: "cwnd_max_packets",
        unit: "packets",
        lists: &["flows"],
        definition: "largest congestion window of a TCP flow, in cells with channel errors",
    }
    LOSS_PROBABILITY {
        name: "loss_probability",
        unit: "-",
        lists: &["flows", "classes"],
        definition: "segments or datagrams lost (queues, wire, attempt limit) over those sent",
    }
    RETRANSMISSIONS {
        name: "retransmissions",
        unit: "packets",
        lists: &["flows"],
        definition: "segments sent again",
    }
    REPORTS {
        name: "reports",
        unit: "reports",
        lists: &["flows"],
        definition: "reports that a sensor made, those made less than a deadline before the end not counted",
    }
    REPORT_DELIVERY {
        name: "report_delivery",
        unit: "-",
        lists: &["flows"],
        definition: "part of a sensor's reports that arrived by their deadline",
    }
    REPORT_DELAY {
        name: "report_delay_s",
        unit: "s",
        lists: &["flows"],
        definition: "mean time from the making of a report to its arrival, of those that arrived by their deadline",
    }
    REPORT_DELAY_P95 {
        name: "report_delay_p95_s",
        unit: "s",
        lists: &["flows"],
        definition: "95th percentile of those times",
    }
    CONNECTIONS {
        name: "connections",
        unit: "connections",
        lists: &["flows", "links"],
        definition: "TCP connections that a flow over CSMA links has open, time average; of a link those of the flows that pass it",
    }
    CONNECTIONS_OPENED {
        name: "connections_opened",
        unit: "connections",
        lists: &["flows"],
        definition: "TCP connections that a flow over CSMA links opened",
    }
    CONNECTIONS_CLOSED {
        name: "connections_closed",
        unit: "connections",
        lists: &["flows"],
        definition: "TCP connections that a flow over CSMA links closed",
    }
    AIRTIME_FRACTION {
        name: "airtime_fraction",
        unit: "-",
        lists: &["links"],
        definition: "part of the time that a CSMA link is sending, failed transmissions included",
    }
    DUMMY_FRACTION {
        name: "dummy_fraction",
        unit: "-",
        lists: &["links"],
        definition: "part of the time that a CSMA link is sending dummy packets, which airtime_fraction includes",
    }
    AGGRESSIVENESS {
        name: "aggressiveness",
        unit: "-",
        lists: &["links"],
        definition: "time average of a CSMA link's r: its mean backoff is exp(-beta r) of a transmission, and with AQM it drops arriving packets with this probability",
    }
    CONNECTIONS_FINISHED {
        name: "connections_finished",
        unit: "connections",
        lists: &["classes"],
        definition: "web connections whose response has arrived in full",
    }
    CONNECTIONS_REFUSED {
        name: "connections_refused",
        unit: "connections",
        lists: &["classes"],
        definition: "web connections that did not begin since 10000 of the class were open",
    }
    COMPLETION {
        name: "completion_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "time from the start of a finite flow to the last ACK, of a web connection from the request to the end of the response; mean over those of a class that were finished",
    }
    COMPLETION_P95 {
        name: "completion_p95_s",
        unit: "s",
        lists: &["classes"],
        definition: "95th percentile of those completion times; of web connections within 0.2 %",
    }
    UNFINISHED {
        name: "unfinished",
        unit: "flows",
        lists: &["flows", "classes"],
        definition: "finite flows, or web connections, that were not finished at the end",
    }
    TRANSFER_RATE {
        name: "transfer_rate_bps",
        unit: "bit/s",
        lists: &["classes"],
        definition: "payload of a finite flow over its completion time, mean over those of a class that were finished",
    }
    BYPASS {
        name: "bypass_packets",
        unit: "packets",
        lists: &["stations"],
        definition: "uplink datagrams of the station, which pass beside a virtual shared bottleneck",
    }
    COLLISION_RATE {
        name: "collision_rate",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "collided transmission attempts over all attempts",
    }
    FRAME_FAILURE_RATE {
        name: "frame_failure_rate",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "attempts that collided or were corrupted over all attempts",
    }
    DISCARD_PROBABILITY {
        name: "discard_probability",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "frames given up at the attempt limit over frames delivered or given up",
    }
    DOWNLINK_FAILURE_RATE {
        name: "downlink_failure_rate",
        unit: "-",
        lists: &["stations"],
        definition: "attempts of the access point to the station that collided or were corrupted over all to it, in cells with channel errors",
    }
    DOWNLINK_DISCARD_PROBABILITY {
        name: "downlink_discard_probability",
        unit: "-",
        lists: &["stations"],
        definition: "frames to the station given up at the attempt limit over those delivered or given up, in cells with channel errors",
    }
    QUEUE {
        name: "queue_packets",
        unit: "packets",
        lists: &["stations", "aps"],
        definition: "time average of the packets in the node's queue, the one in service included",
    }
    OCCUPANCY {
        name: "occupancy_packets",
        unit: "packets",
        lists: &["queues", "classes"],
        definition: "time average of the packets in the queue, the one in service included; of a class its own in the shared queue",
    }
    TARGET_SHARE {
        name: "target_share",
        unit: "-",
        lists: &["classes"],
        definition: "share h* of a class that shares the access point's queue, among all classes: what the file says over the sum of all",
    }
    QUEUE_SHARE {
        name: "queue_share",
        unit: "-",
        lists: &["classes"],
        definition: "the class's part of the packets of all classes in the shared queue, time averages",
    }
    OCCUPANCY_ERROR {
        name: "occupancy_error_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "root of the mean squared distance of a shared queue from its target occupancy, over time",
    }
    EMPTY_FRACTION {
        name: "empty_fraction",
        unit: "-",
        lists: &["queues"],
        definition: "part of the time a shared queue holds no packet",
    }
    SETTLING {
        name: "settling_s",
        unit: "s",
        lists: &["queues"],
        definition: "time from the first packet of the run until a shared queue was within the tolerance of its target occupancy",
    }
    OCCUPANCY_MAX {
        name: "occupancy_max_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "most packets that a wired link's queue held, the one in service included",
    }
    OCCUPANCY_SD {
        name: "occupancy_sd_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "standard deviation of a wired link's queue, read once a bin (record.utilisation_bin)",
    }
    DROP_PROBABILITY {
        name: "drop_probability",
        unit: "-",
        lists: &["queues", "classes"],
        definition: "packets that the queue refused or dropped over packets offered; of a class its own at the shared queue",
    }
    MARK_PROBABILITY {
        name: "mark_probability",
        unit: "-",
        lists: &["queues"],
        definition: "packets marked over packets offered, of a queue that may mark",
    }
    SOJOURN {
        name: "sojourn_s",
        unit: "s",
        lists: &["queues"],
        definition: "mean time in the queue, service included, per packet that left it",
    }
    UTILISATION {
        name: "utilisation",
        unit: "-",
        lists: &["links"],
        definition: "part of the time the wired link sends",
    }
    UTILISATION_MIN {
        name: "utilisation_min",
        unit: "-",
        lists: &["links"],
        definition: "least part of a bin of time (record.utilisation_bin) that the wired link sends",
    }
    CAPACITY {
        name: "capacity_bps",
        unit: "bit/s",
        lists: &["links"],
        definition: "time average of the rate C of a virtual shared bottleneck, from its start on",
    }
    PING_RTT {
        name: "ping_rtt_s",
        unit: "s",
        lists: &["links"],
        definition: "mean round-trip time of the pings beside a virtual shared bottleneck",
    }
    PING_RTT_P95 {
        name: "ping_rtt_p95_s",
        unit: "s",
        lists: &["links"],
        definition: "95th percentile of those round-trip times, within 0.2 %",
    }
    PING_LOSS_PROBABILITY {
        name: "ping_loss_probability",
        unit: "-",
        lists: &["links"],
        definition: "pings without an answer over those sent",
    }
    ACTIVE_STATIONS {
        name: "active_stations",
        unit: "stations",
        lists: &["cells"],
        definition: "time average of the number of stations (not the AP) with a frame to send",
    }
    JAIN {
        name: "jain",
        unit: "-",
        lists: &["cells", "classes"],
        definition: "Jain's fairness index of the goodputs of the stations that have flows other than sensors', or of the class's flows that have begun and are not finished",
    }
    SYNCHRONISATION {
        name: "synchronisation",
        unit: "-",
        lists: &["classes"],
        definition: "correlation of the windows of a class's TCP flows, read once a bin: covariances of all pairs over the products of their standard deviations; 1: they swing together, 0: each for itself",
    }
    STARVED_FLOWS {
        name: "starved_flows",
        unit: "flows",
        lists: &["classes"],
        definition: "flows of the class, begun and not finished, with less than a tenth of the mean goodput of such flows",
    }
    UPDOWN_RATIO {
        name: "updown_ratio",
        unit: "-",
        lists: &["cells"],
        definition: "goodput of all upstream flows over that of all downstream flows",
    }
    BUSY_FRACTION {
        name: "busy_fraction",
        unit: "-",
        lists: &["cells"],
        definition: "part of the time in which an exchange (first frame to MAC ACK) or a collision is on the air",
    }
    STABLE {
        name: "stable",
        unit: "-",
        lists: &["stability"],
        definition: "whether a small disturbance of the point of rest of a queue and its flows dies out",
    }
    RIGHTMOST_ROOT {
        name: "rightmost_root",
        unit: "1/s",
        lists: &["stability"],
        definition: "characteristic root that decides it: its real part is the rate of growth, its imaginary part the angular frequency",
    }
    PERIOD {
        name: "period_s",
        unit: "s",
        lists: &["stability"],
        definition: "period of the swing that dies out last or grows; of a run, the period at which the queue's trace is most like itself",
    }
    PACKETS_DELIVERED {
        name: "packets_delivered",
        unit: "packets",
        lists: &["totals"],
        definition: "segments and datagrams handed to the application, in order",
    }
    LATENESS_P99 {
        name: "lateness_p99_s",
        unit: "s",
        lists: &["totals"],
        definition: "of an emulation: 99th percentile of the time by which packets reached their node after they were due",
    }
    FOREIGN {
        name: "foreign_packets",
        unit: "packets",
        lists: &["totals"],
        definition: "of an emulation: packets of the kernel that belong to no flow of the scenario, and were left out",
    }
    EVENTS {
        name: "events",
        unit: "events",
        lists: &["totals"],
        definition: "events processed in the whole replication, warm-up included",
    }
}
