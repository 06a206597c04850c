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

/// All quantities, in the order in which results give them.
pub const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "goodput_bps",
        unit: "bit/s",
        lists: &["flows", "stations", "cells", "classes"],
        definition: "payload handed to the application in order, per time; the sum over the item's flows",
    },
    Quantity {
        name: "goodput_share",
        unit: "-",
        lists: &["flows", "stations", "classes"],
        definition: "the item's part of the goodput of all flows",
    },
    Quantity {
        name: "fairness_level",
        unit: "-",
        lists: &["stations"],
        definition: "goodput of the first station over this one's, eta_1j",
    },
    Quantity {
        name: "rtt_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "mean of the round-trip samples of a TCP flow, one an ACK of new data; of a class over the samples of all its TCP flows, of a user of a CSMA network over those of all its connections; in a series over the samples of the interval",
    },
    Quantity {
        name: "one_way_delay_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "mean time from source to sink of a UDP flow's datagrams, or a class's, per datagram",
    },
    Quantity {
        name: "cwnd_packets",
        unit: "packets",
        lists: &["flows", "classes"],
        definition: "time average of the congestion window of a TCP flow; mean over the flows of a class that have begun and are not finished",
    },
    Quantity {
        name: "cwnd_max_packets",
        unit: "packets",
        lists: &["flows"],
        definition: "largest congestion window of a TCP flow, in cells with channel errors",
    },
    Quantity {
        name: "loss_probability",
        unit: "-",
        lists: &["flows", "classes"],
        definition: "segments or datagrams lost (queues, wire, attempt limit) over those sent",
    },
    Quantity {
        name: "retransmissions",
        unit: "packets",
        lists: &["flows"],
        definition: "segments sent again",
    },
    Quantity {
        name: "reports",
        unit: "reports",
        lists: &["flows"],
        definition: "reports that a sensor made, those made less than a deadline before the end not counted",
    },
    Quantity {
        name: "report_delivery",
        unit: "-",
        lists: &["flows"],
        definition: "part of a sensor's reports that arrived by their deadline",
    },
    Quantity {
        name: "report_delay_s",
        unit: "s",
        lists: &["flows"],
        definition: "mean time from the making of a report to its arrival, of those that arrived by their deadline",
    },
    Quantity {
        name: "report_delay_p95_s",
        unit: "s",
        lists: &["flows"],
        definition: "95th percentile of those times",
    },
    Quantity {
        name: "connections",
        unit: "connections",
        lists: &["flows", "links"],
        definition: "TCP connections that a flow over CSMA links has open, time average; of a link those of the flows that pass it",
    },
    Quantity {
        name: "connections_opened",
        unit: "connections",
        lists: &["flows"],
        definition: "TCP connections that a flow over CSMA links opened",
    },
    Quantity {
        name: "connections_closed",
        unit: "connections",
        lists: &["flows"],
        definition: "TCP connections that a flow over CSMA links closed",
    },
    Quantity {
        name: "airtime_fraction",
        unit: "-",
        lists: &["links"],
        definition: "part of the time that a CSMA link is sending, failed transmissions included",
    },
    Quantity {
        name: "dummy_fraction",
        unit: "-",
        lists: &["links"],
        definition: "part of the time that a CSMA link is sending dummy packets, which airtime_fraction includes",
    },
    Quantity {
        name: "aggressiveness",
        unit: "-",
        lists: &["links"],
        definition: "time average of a CSMA link's r: its mean backoff is exp(-beta r) of a transmission, and with AQM it drops arriving packets with this probability",
    },
    Quantity {
        name: "connections_finished",
        unit: "connections",
        lists: &["classes"],
        definition: "web connections whose response has arrived in full",
    },
    Quantity {
        name: "connections_refused",
        unit: "connections",
        lists: &["classes"],
        definition: "web connections that did not begin since 10000 of the class were open",
    },
    Quantity {
        name: "completion_s",
        unit: "s",
        lists: &["flows", "classes"],
        definition: "time from the start of a finite flow to the last ACK, of a web connection from the request to the end of the response; mean over those of a class that were finished",
    },
    Quantity {
        name: "completion_p95_s",
        unit: "s",
        lists: &["classes"],
        definition: "95th percentile of those completion times; of web connections within 0.2 %",
    },
    Quantity {
        name: "unfinished",
        unit: "flows",
        lists: &["flows", "classes"],
        definition: "finite flows, or web connections, that were not finished at the end",
    },
    Quantity {
        name: "transfer_rate_bps",
        unit: "bit/s",
        lists: &["classes"],
        definition: "payload of a finite flow over its completion time, mean over those of a class that were finished",
    },
    Quantity {
        name: "bypass_packets",
        unit: "packets",
        lists: &["stations"],
        definition: "uplink datagrams of the station, which pass beside a virtual shared bottleneck",
    },
    Quantity {
        name: "collision_rate",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "collided transmission attempts over all attempts",
    },
    Quantity {
        name: "frame_failure_rate",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "attempts that collided or were corrupted over all attempts",
    },
    Quantity {
        name: "discard_probability",
        unit: "-",
        lists: &["stations", "aps", "links"],
        definition: "frames given up at the attempt limit over frames delivered or given up",
    },
    Quantity {
        name: "downlink_failure_rate",
        unit: "-",
        lists: &["stations"],
        definition: "attempts of the access point to the station that collided or were corrupted over all to it, in cells with channel errors",
    },
    Quantity {
        name: "downlink_discard_probability",
        unit: "-",
        lists: &["stations"],
        definition: "frames to the station given up at the attempt limit over those delivered or given up, in cells with channel errors",
    },
    Quantity {
        name: "queue_packets",
        unit: "packets",
        lists: &["stations", "aps"],
        definition: "time average of the packets in the node's queue, the one in service included",
    },
    Quantity {
        name: "occupancy_packets",
        unit: "packets",
        lists: &["queues", "classes"],
        definition: "time average of the packets in the queue, the one in service included; of a class its own in the shared queue",
    },
    Quantity {
        name: "target_share",
        unit: "-",
        lists: &["classes"],
        definition: "share h* of a class that shares the access point's queue, among all classes: what the file says over the sum of all",
    },
    Quantity {
        name: "queue_share",
        unit: "-",
        lists: &["classes"],
        definition: "the class's part of the packets of all classes in the shared queue, time averages",
    },
    Quantity {
        name: "occupancy_error_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "root of the mean squared distance of a shared queue from its target occupancy, over time",
    },
    Quantity {
        name: "empty_fraction",
        unit: "-",
        lists: &["queues"],
        definition: "part of the time a shared queue holds no packet",
    },
    Quantity {
        name: "settling_s",
        unit: "s",
        lists: &["queues"],
        definition: "time from the first packet of the run until a shared queue was within the tolerance of its target occupancy",
    },
    Quantity {
        name: "occupancy_max_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "most packets that a wired link's queue held, the one in service included",
    },
    Quantity {
        name: "occupancy_sd_packets",
        unit: "packets",
        lists: &["queues"],
        definition: "standard deviation of a wired link's queue, read once a bin (record.utilisation_bin)",
    },
    Quantity {
        name: "drop_probability",
        unit: "-",
        lists: &["queues", "classes"],
        definition: "packets that the queue refused or dropped over packets offered; of a class its own at the shared queue",
    },
    Quantity {
        name: "mark_probability",
        unit: "-",
        lists: &["queues"],
        definition: "packets marked over packets offered, of a queue that may mark",
    },
    Quantity {
        name: "sojourn_s",
        unit: "s",
        lists: &["queues"],
        definition: "mean time in the queue, service included, per packet that left it",
    },
    Quantity {
        name: "utilisation",
        unit: "-",
        lists: &["links"],
        definition: "part of the time the wired link sends",
    },
    Quantity {
        name: "utilisation_min",
        unit: "-",
        lists: &["links"],
        definition: "least part of a bin of time (record.utilisation_bin) that the wired link sends",
    },
    Quantity {
        name: "capacity_bps",
        unit: "bit/s",
        lists: &["links"],
        definition: "time average of the rate C of a virtual shared bottleneck, from its start on",
    },
    Quantity {
        name: "ping_rtt_s",
        unit: "s",
        lists: &["links"],
        definition: "mean round-trip time of the pings beside a virtual shared bottleneck",
    },
    Quantity {
        name: "ping_rtt_p95_s",
        unit: "s",
        lists: &["links"],
        definition: "95th percentile of those round-trip times, within 0.2 %",
    },
    Quantity {
        name: "ping_loss_probability",
        unit: "-",
        lists: &["links"],
        definition: "pings without an answer over those sent",
    },
    Quantity {
        name: "active_stations",
        unit: "stations",
        lists: &["cells"],
        definition: "time average of the number of stations (not the AP) with a frame to send",
    },
    Quantity {
        name: "jain",
        unit: "-",
        lists: &["cells", "classes"],
        definition: "Jain's fairness index of the goodputs of the stations that have flows other than sensors', or of the class's flows that have begun and are not finished",
    },
    Quantity {
        name: "synchronisation",
        unit: "-",
        lists: &["classes"],
        definition: "correlation of the windows of a class's TCP flows, read once a bin: covariances of all pairs over the products of their standard deviations; 1: they swing together, 0: each for itself",
    },
    Quantity {
        name: "starved_flows",
        unit: "flows",
        lists: &["classes"],
        definition: "flows of the class, begun and not finished, with less than a tenth of the mean goodput of such flows",
    },
    Quantity {
        name: "updown_ratio",
        unit: "-",
        lists: &["cells"],
        definition: "goodput of all upstream flows over that of all downstream flows",
    },
    Quantity {
        name: "busy_fraction",
        unit: "-",
        lists: &["cells"],
        definition: "part of the time in which an exchange (first frame to MAC ACK) or a collision is on the air",
    },
    Quantity {
        name: "stable",
        unit: "-",
        lists: &["stability"],
        definition: "whether a small disturbance of the point of rest of a queue and its flows dies out",
    },
    Quantity {
        name: "rightmost_root",
        unit: "1/s",
        lists: &["stability"],
        definition: "characteristic root that decides it: its real part is the rate of growth, its imaginary part the angular frequency",
    },
    Quantity {
        name: "period_s",
        unit: "s",
        lists: &["stability"],
        definition: "period of the swing that dies out last or grows; of a run, the period at which the queue's trace is most like itself",
    },
    Quantity {
        name: "packets_delivered",
        unit: "packets",
        lists: &["totals"],
        definition: "segments and datagrams handed to the application, in order",
    },
    Quantity {
        name: "lateness_p99_s",
        unit: "s",
        lists: &["totals"],
        definition: "of an emulation: 99th percentile of the time by which packets reached their node after they were due",
    },
    Quantity {
        name: "foreign_packets",
        unit: "packets",
        lists: &["totals"],
        definition: "of an emulation: packets of the kernel that belong to no flow of the scenario, and were left out",
    },
    Quantity {
        name: "events",
        unit: "events",
        lists: &["totals"],
        definition: "events processed in the whole replication, warm-up included",
    },
];
