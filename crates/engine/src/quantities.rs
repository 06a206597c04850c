//! The registry of measured quantities. Each quantity is defined once, with its unit, its lists and
//! its definition.

use std::sync::LazyLock;

use serde::Serialize;

use crate::notation::table::documented;

/// A measured quantity.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantity {
    /// Name of the quantity in results, including the unit.
    pub name: &'static str,
    /// Unit; `-` for a quantity without a unit.
    pub unit: &'static str,
    /// Whether the quantity is a probability or a fraction of a total.
    #[serde(skip)]
    pub(crate) is_fraction: bool,
    /// Names of the result lists whose items may have this quantity.
    pub lists: &'static [&'static str],
    /// Definition of the quantity. Averages and counts cover the time after the warm-up. Empty in an
    /// engine without the feature `docs`.
    pub definition: &'static str,
}

impl Quantity {
    /// Returns the name of the quantity together with `value`, which is `None` if a replication has
    /// no value.
    pub fn of(&self, value: impl Into<Option<f64>>) -> (&'static str, Option<f64>) {
        (self.name, value.into())
    }
}

/// Defines a constant for each quantity, and a list of all quantities in the same order.
macro_rules! registry {
    ($($constant:ident: $name:literal, $unit:tt, $lists:expr, $definition:literal;)*) => {
        $(
            #[doc = $definition]
            pub const $constant: Quantity = Quantity {
                name: $name,
                unit: unit!($unit).0,
                is_fraction: unit!($unit).1,
                lists: &$lists,
                definition: documented($definition),
            };
        )*

        /// All quantities, in the order in which results contain them.
        pub const QUANTITIES: &[Quantity] = &[$($constant),*];
    };
}

/// Returns the unit of a quantity, and whether the quantity is a fraction (unit `fraction`).
macro_rules! unit {
    (fraction) => {
        ("-", true)
    };
    ($unit:literal) => {
        ($unit, false)
    };
}

/// Probabilities and fractions of a total. The conservation checks assert that each is in [0, 1].
pub static FRACTIONS: LazyLock<Vec<Quantity>> = LazyLock::new(|| {
    let fractions = QUANTITIES.iter().filter(|quantity| quantity.is_fraction);
    fractions.copied().collect()
});

// each entry consists of a name, a unit (`fraction` means a number from 0 to 1 without a unit), the
// result lists with this quantity, and the definition
registry! {
    GOODPUT: "goodput_bps", "bit/s", ["flows", "stations", "cells", "classes"],
        "payload delivered to the application in order, per second, summed over the flows of the item";
    GOODPUT_SHARE: "goodput_share", fraction, ["flows", "stations", "classes"],
        "goodput of the item, divided by the goodput of all flows";
    FAIRNESS_LEVEL: "fairness_level", "-", ["stations"],
        "goodput G divided by the goodput of the station (eta_1j). G is the goodput of the first station in the file whose demand is not met. The value is absent if the demand of the station itself is met. The demand of a flow with a given rate is met if it loses at most 1 % of its datagrams and its datagrams do not accumulate on the way. TCP and greedy flows always demand more. Reports of sensors demand no share. The demand of a station is met if none of its flows demands more";
    RTT: "rtt_s", "s", ["flows", "classes"],
        "mean of the round-trip samples of a TCP flow, with one sample per ACK of new data. For pings the value is taken over the pings of a flow or class whose reply arrived by the deadline. For a class the value is taken over the samples of all its TCP flows. For a user of a CSMA network the value is taken over the samples of all its connections. In a series the value is taken over the samples of the interval";
    RTT_P50: "rtt_p50_s", "s", ["flows", "classes"],
        "median of the round-trip times of pings. Pings that are lost or answered after the deadline do not count";
    RTT_P95: "rtt_p95_s", "s", ["flows", "classes"],
        "95th percentile of the round-trip samples of a TCP flow, at most 0.2 % above the exact value. The quantity is measured only if requested (--tails, simulate(tails=True)). For pings it is always measured and exact";
    RTT_P99: "rtt_p99_s", "s", ["flows", "classes"],
        "99th percentile of the round-trip samples of a TCP flow, at most 0.2 % above the exact value. The quantity is measured only if requested (--tails, simulate(tails=True)). For pings it is always measured and exact";
    ONE_WAY_DELAY: "one_way_delay_s", "s", ["flows", "classes"],
        "mean time from source to sink of the datagrams of a UDP flow, or of the UDP flows of a class";
    ONE_WAY_DELAY_P99: "one_way_delay_p99_s", "s", ["flows", "classes"],
        "99th percentile of the time from source to sink of a UDP flow's datagrams, at most 0.2 % above the exact value. For a class the value is taken over the datagrams of all its UDP flows";
    CWND: "cwnd_packets", "packets", ["flows", "classes"],
        "time average of the congestion window (cwnd) of a TCP flow, from its start until all its data was acknowledged. For a class the value is taken over the flows that have begun and are not finished";
    CWND_MAX: "cwnd_max_packets", "packets", ["flows"],
        "largest congestion window (cwnd) of a TCP flow. The value is given only in cells with channel errors";
    CWND_LIMITED: "cwnd_limited_fraction", fraction, ["flows"],
        "fraction of the measured time in which the congestion window kept a TCP flow from sending: the sender had data to send, and had used up its congestion window. Recovery from losses, and the wait for the retransmission timer, are included while there is data to send. With rwnd_limited_fraction and app_limited_fraction the sum is 1 if the flow lasts the whole time, and otherwise the fraction of the time in which its connection existed. The value is absent if there was no flow in this time. Time in which Linux reports tcpi_busy_time without tcpi_rwnd_limited is here the sum of cwnd_limited_fraction and the part of app_limited_fraction in which data is not acknowledged";
    RWND_LIMITED: "rwnd_limited_fraction", fraction, ["flows"],
        "fraction of the measured time in which the receive window kept a TCP flow from sending, as tcpi_rwnd_limited of Linux: the sender had data to send, and had used up the receive window of its receiver. The congestion window grows up to the receive window; from then on the limit is the receive window";
    APP_LIMITED: "app_limited_fraction", fraction, ["flows"],
        "fraction of the measured time in which a TCP flow had nothing to send: the application had given the sender no further data, and all lost segments had been sent again. The time to the acknowledgement of the last segment is included, the time after it is not";
    LOSS_PROBABILITY: "loss_probability", fraction, ["flows", "classes"],
        "segments or datagrams that were lost (in queues, on the wire, or at the attempt limit), divided by those that were lost or have arrived. Each packet counts at the time when it is lost or arrives. Packets in flight at the end do not count. For pings the value is the fraction of the requests without a reply by the deadline, lost in either direction. Pings that are sent less than one deadline before the end do not count";
    RETRANSMISSIONS: "retransmissions", "packets", ["flows"],
        "number of retransmitted segments";
    REPORTS: "reports", "reports", ["flows"],
        "number of reports that a sensor made. Reports made less than one deadline before the end do not count";
    REPORT_DELIVERY: "report_delivery", fraction, ["flows"],
        "fraction of a sensor's reports that arrived by their deadline";
    REPORT_DELAY: "report_delay_s", "s", ["flows"],
        "mean time from the creation of a report to its arrival, over the reports that arrived by their deadline";
    REPORT_DELAY_P95: "report_delay_p95_s", "s", ["flows"],
        "95th percentile of the time from the creation of a report to its arrival, over the reports that arrived by their deadline";
    CHUNKS: "chunks", "chunks", ["flows", "classes"],
        "number of chunks that arrived completely, or after which the application began the next chunk, whichever was first";
    LATE_CHUNKS: "late_chunks", "chunks", ["flows", "classes"],
        "number of chunks that had not arrived completely when the application began the next chunk";
    CHUNK_COMPLETION: "chunk_completion_s", "s", ["flows", "classes"],
        "mean time from the beginning of a chunk, or from its request by the player of a stream, to the arrival of its last byte at the receiver. The mean is over the chunks that arrived before the end of the run. It ends earlier than completion_s, which includes the ACK, because the receiver uses a chunk as soon as it has arrived";
    CHUNK_COMPLETION_P95: "chunk_completion_p95_s", "s", ["flows", "classes"],
        "95th percentile of the time from the beginning of a chunk to the arrival of its last byte, over the chunks that arrived before the end of the run";
    VIDEO_BITRATE: "video_bitrate_bps", "bit/s", ["flows"],
        "mean bitrate of the chunks of a stream that arrived after the warm-up. The value is 0 if no chunk arrived and the video never starts";
    SWITCHES: "switches", "switches", ["flows"],
        "number of chunks of a stream whose bitrate differs from that of the chunk before";
    STALLS: "stalls", "stalls", ["flows"],
        "number of times at which a stream stopped playing because its buffer was empty. The time before the video starts is not a stall";
    STALLED: "stalled_fraction", fraction, ["flows"],
        "fraction of time for which a stream stalled, since its video started to play. The value is 1 if the video never starts";
    STARTUP: "startup_s", "s", ["flows"],
        "time from the start of a stream until its video starts to play. The time is given even if it is before the end of the warm-up";
    SENT_RATE: "sent_rate_bps", "bit/s", ["flows"],
        "mean rate of the packets that the sender of an adaptive video sent, with UDP/IP headers, probes and repeated packets. The value is counted from frame to frame";
    FREEZES: "freezes", "freezes", ["flows"],
        "number of freezes of an adaptive video: gaps between displayed frames of at least three times the mean gap, and at least 150 ms above it. The mean is over the last 30 gaps, the gap itself included. A freeze that lasts at the end counts";
    FROZEN: "frozen_fraction", fraction, ["flows"],
        "time in freezes of an adaptive video, divided by the time since its first frame was displayed";
    QOO: "qoo_score", fraction, ["flows"],
        "Quality of Outcome (draft-ietf-ippm-qoo-11) of an adaptive video: the smallest of three scores. For the 99th percentile of the one-way delay, the score is 1 up to 150 ms and 0 from 400 ms on (ITU-T G.114), and linear in between. For the losses, it is 1 without loss and 0 from 5 % on. For the goodput, it is 0 below 300 kb/s, and otherwise 1";
    BUFFER: "buffer_s", "s", ["flows"],
        "playing time of the video that has arrived at the player of a stream and is not played. The quantity is only in time series";
    CONNECTIONS: "connections", "connections", ["flows", "links"],
        "time average of the open TCP connections of a flow over CSMA links, from its start to its stop. For a link the value is taken over the connections of the flows that pass it, and over the whole time";
    CONNECTIONS_OPENED: "connections_opened", "connections", ["flows"],
        "number of TCP connections that a flow over CSMA links opened";
    CONNECTIONS_CLOSED: "connections_closed", "connections", ["flows"],
        "number of TCP connections that a flow over CSMA links closed";
    AIRTIME_FRACTION: "airtime_fraction", fraction, ["links", "stations"],
        "fraction of time during which a CSMA link sends, including failed transmissions. In a cell with aggregation, the value is the fraction of time during which PPDUs with data to or from a station are on the air. Failed PPDUs are included; RTS, responses and gaps are not. If PPDUs of several stations collide, their time counts for each of these stations, so that the sum over stations may exceed 1";
    DUMMY_FRACTION: "dummy_fraction", fraction, ["links"],
        "fraction of time during which a CSMA link sends dummy packets. This time is included in airtime_fraction";
    AGGRESSIVENESS: "aggressiveness", "-", ["links"],
        "time average of the aggressiveness r of a CSMA link. The mean backoff of the link is the duration of a transmission multiplied by exp(-beta r). With AQM the link drops arriving packets with probability r";
    CONNECTIONS_FINISHED: "connections_finished", "connections", ["flows", "classes"],
        "number of web connections whose response has arrived completely";
    CONNECTIONS_REFUSED: "connections_refused", "connections", ["flows", "classes"],
        "number of web connections that did not begin because 10000 connections of the class or station were open";
    COMPLETION: "completion_s", "s", ["flows", "classes"],
        "time from the start of a finite flow to its last ACK, which may have waited for the receiver's delayed-ACK timer: the sender of a file finishes when it knows that the file has arrived. For a web connection the value is the time from its SYN to the end of the response. For a class the value is the mean over the finished flows or connections";
    COMPLETION_P50: "completion_p50_s", "s", ["flows"],
        "median of the times from the SYN of a web connection of a station to the end of its response, at most 0.2 % above the exact value";
    COMPLETION_P95: "completion_p95_s", "s", ["flows", "classes"],
        "95th percentile of the completion times of the finished flows of a class, or of the finished web connections of a class or station. For web connections the value is at most 0.2 % above the exact value";
    UNFINISHED: "unfinished", "flows", ["flows", "classes"],
        "number of finite flows, or of web connections, that were not finished at the end";
    TRANSFER_RATE: "transfer_rate_bps", "bit/s", ["classes"],
        "payload of a finite flow divided by its completion time, as a mean over the finished flows of the class";
    BYPASS: "bypass_packets", "packets", ["stations"],
        "number of uplink datagrams of the station that bypass a virtual shared bottleneck";
    COLLISION_RATE: "collision_rate", fraction, ["stations", "aps", "links"],
        "transmission attempts that collided, divided by all attempts. An attempt counts when it ends";
    FRAME_FAILURE_RATE: "frame_failure_rate", fraction, ["stations", "aps", "links"],
        "transmission attempts that collided or were corrupted, divided by all attempts. An attempt counts when it ends";
    DISCARD_PROBABILITY: "discard_probability", fraction, ["stations", "aps", "links"],
        "frames given up at the attempt limit, divided by the frames delivered or given up";
    DOWNLINK_FAILURE_RATE: "downlink_failure_rate", fraction, ["stations"],
        "attempts of the access point to the station that collided or were corrupted, divided by all its attempts to the station. The value is given only in cells with channel errors";
    DOWNLINK_DISCARD_PROBABILITY: "downlink_discard_probability", fraction, ["stations"],
        "frames to the station that were given up at the attempt limit, divided by the frames to the station that were delivered or given up. The value is given only in cells with channel errors";
    MPDUS_PER_PPDU: "mpdus_per_ppdu", "MPDUs", ["stations", "aps"],
        "mean number of MPDUs in the PPDUs with data that the node sent. PPDUs that were not received also count. The value is given only in cells with aggregation";
    REORDERING: "reordering_s", "s", ["stations", "aps"],
        "mean time from the end of the PPDU that carried a packet of the node until the receiver delivered the packet in order. The value is given only in cells with aggregation";
    DOWNLINK_MPDUS_PER_PPDU: "downlink_mpdus_per_ppdu", "MPDUs", ["stations"],
        "mean number of MPDUs in the access point's PPDUs to the station. The value is given only in cells with aggregation";
    DOWNLINK_REORDERING: "downlink_reordering_s", "s", ["stations"],
        "mean time from the end of the PPDU that carried a packet to the station until the packet was delivered in order. The value is given only in cells with aggregation";
    QUEUE: "queue_packets", "packets", ["stations", "aps"],
        "time average of the number of packets in the node's queue, including the packet in service";
    OCCUPANCY: "occupancy_packets", "packets", ["queues", "tins", "classes"],
        "time average of the number of packets in the queue, including the packet in service. For a class only the packets of the class in the shared queue count";
    TARGET_SHARE: "target_share", fraction, ["classes"],
        "target share h* of a class in the access point's queue. The target is the share in the file, divided by the sum of the shares of all classes";
    QUEUE_SHARE: "queue_share", fraction, ["classes"],
        "packets of the class in the shared queue, divided by the packets of all classes in this queue (both numbers are time averages)";
    OCCUPANCY_ERROR: "occupancy_error_packets", "packets", ["queues"],
        "root of the mean squared difference, over time, between the packets in a shared queue and its target occupancy";
    EMPTY_FRACTION: "empty_fraction", fraction, ["queues"],
        "fraction of time during which a shared queue holds no packet";
    SETTLING: "settling_s", "s", ["queues"],
        "time from the first packet of the run until a shared queue was within the tolerance of its target occupancy";
    OCCUPANCY_MAX: "occupancy_max_packets", "packets", ["queues"],
        "largest number of packets in a wired link's queue, including the packet in service";
    OCCUPANCY_SD: "occupancy_sd_packets", "packets", ["queues"],
        "standard deviation of the number of packets in a wired link's queue, sampled once per bin (record.utilisation_bin)";
    DROP_PROBABILITY: "drop_probability", fraction, ["queues", "tins", "classes"],
        "packets that the queue refused or dropped, divided by the packets about which its discipline has decided. The discipline decides when a packet arrives, or when it departs if the queue drops at the head. For a class the value is taken over the packets of the class at the shared queue";
    MARK_PROBABILITY: "mark_probability", fraction, ["queues", "tins"],
        "packets that the queue marked, divided by the packets about which its discipline has decided. The discipline decides when a packet arrives, or when it departs if the queue drops at the head. The value is given only for queues that may mark";
    SOJOURN: "sojourn_s", "s", ["queues", "tins"],
        "mean time in the queue, including service, of the packets that left the queue";
    WAIT: "wait_s", "s", ["waits"],
        "mean time that the packets of a datagram flow were in a queue, including service, over the packets that left the queue after the warm-up. Packets that the queue refused or dropped do not count. Packets that a station or access point gave up after its last attempt count, as in sojourn_s. An access point keeps packets for a sleeping station in a queue of their own, and packets that come while the station is awake spend no time in it";
    SOJOURN_P99: "sojourn_p99_s", "s", ["queues"],
        "99th percentile of the time in a cell's queue, including service, at most 0.2 % above the exact value. The quantity is measured only if requested (--tails, simulate(tails=True))";
    ACKS_FILTERED: "acks_filtered", "packets", ["tins"],
        "number of ACKs that the ACK filter of CAKE dropped in a tin. These ACKs count neither as offered nor as dropped in the other quantities of the tin";
    SPARSE_FLOWS: "sparse_flows", "flows", ["tins"],
        "time average of the number of sparse flows in a tin of CAKE. A flow is sparse while it does not use up its first quantum";
    BULK_FLOWS: "bulk_flows", "flows", ["tins"],
        "time average of the number of flows in the bulk rotation of a tin of CAKE";
    UTILISATION: "utilisation", fraction, ["links"],
        "fraction of time during which the wired link sends. If the rate follows a trace, the value is the number of bytes that the link sent, divided by the number of bytes that the trace allowed";
    UTILISATION_MIN: "utilisation_min", fraction, ["links"],
        "smallest utilisation of the wired link in any time bin (record.utilisation_bin). The utilisation in a bin is the fraction of the bin during which the link sends";
    CAPACITY: "capacity_bps", "bit/s", ["links"],
        "time average of the rate C of a virtual shared bottleneck, from its start on";
    PING_RTT: "ping_rtt_s", "s", ["links"],
        "mean round-trip time of the pings of a virtual shared bottleneck. The pings bypass the bottleneck";
    PING_RTT_P95: "ping_rtt_p95_s", "s", ["links"],
        "95th percentile of the round-trip times of the pings of a virtual shared bottleneck, at most 0.2 % above the exact value";
    PING_LOSS_PROBABILITY: "ping_loss_probability", fraction, ["links"],
        "pings that were lost or ignored by their station, divided by the pings that were lost, ignored or answered";
    ACTIVE_STATIONS: "active_stations", "stations", ["cells"],
        "time average of the number of stations (not the access point) with a frame to send";
    JAIN: "jain", "-", ["cells", "classes"],
        "Jain's fairness index of the goodputs of the stations whose demand is not met (see fairness_level). For a class the value is taken over the flows that have begun, are not finished, and demand more. The goodput of a flow is averaged over the time in which the flow existed. The index is absent with fewer than two stations or flows";
    SYNCHRONISATION: "synchronisation", "-", ["classes"],
        "correlation of the congestion windows of a class's TCP flows, sampled once per bin. The correlation is the sum of the covariances of all pairs of flows, divided by the sum of the products of their standard deviations. With 1 the windows oscillate together; with 0 they are uncorrelated";
    STARVED_FLOWS: "starved_flows", "flows", ["classes"],
        "number of flows of the class with less than a tenth of the mean goodput. The mean is over the flows that have begun, are not finished, and demand more. The goodput of a flow is averaged over the time in which the flow existed";
    JAIN_P05: "jain_p05", "-", ["cells"],
        "5th percentile of Jain's index over intervals of 1 s. In each interval, the index is over the stations that have a flow which demands more and could send during the whole interval. The quantity is measured only if requested (--tails, simulate(tails=True))";
    LONGEST_STARVED: "longest_starved_s", "s", ["stations"],
        "longest time, in intervals of 1 s, for which a station got less than a tenth of an equal share. The equal share is the mean goodput of the stations that have a flow which demands more. The value is absent if the station's demand is met. The quantity is measured only if requested (--tails, simulate(tails=True))";
    UPDOWN_RATIO: "updown_ratio", "-", ["cells"],
        "goodput of all upstream flows, divided by the goodput of all downstream flows";
    BUSY_FRACTION: "busy_fraction", fraction, ["cells"],
        "fraction of time during which an exchange (first frame to MAC ACK) or a collision is on the air";
    STABLE: "stable", "-", ["stability"],
        "whether a small disturbance of the equilibrium of a queue and its flows dies out";
    RIGHTMOST_ROOT: "rightmost_root", "1/s", ["stability"],
        "characteristic root with the largest real part, which decides whether the equilibrium is stable. Its real part is the growth rate; its imaginary part is the angular frequency";
    PERIOD: "period_s", "s", ["stability"],
        "period of the oscillation that dies out last or grows. For a run the value is the time shift at which the trace of the queue is most similar to the unshifted trace";
    PACKETS_DELIVERED: "packets_delivered", "packets", ["totals"],
        "number of segments and datagrams delivered to the application in order";
    LATENESS_P99: "lateness_p99_s", "s", ["totals"],
        "99th percentile of the lateness of an emulation's packets. The lateness of a packet is the time between its due arrival at the node and its real arrival";
    PROCESSOR_WAIT: "processor_wait", "-", ["totals"],
        "fraction of time for which the process that drives the flows' sockets in an emulation waited for a processor";
    CARRIED: "carried_pps", "packets/s", ["totals"],
        "packets per second that an emulation delivered to their nodes, or that were lost on the path";
    AT_WORK: "at_work_fraction", "-", ["totals"],
        "fraction of time for which the loop that transfers the packets of an emulation was not asleep";
    AT_ONCE: "packets_at_once", "packets", ["totals"],
        "largest number of packets of an emulation that were due at their nodes at the same instant, such as the packets of a PPDU";
    FOREIGN: "foreign_packets", "packets", ["totals"],
        "number of kernel packets that an emulation left out because they belong to no flow of the scenario";
    EVENTS: "events", "events", ["totals"],
        "number of events processed in the whole replication, including the warm-up";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each quantity without a unit is a fraction, or is in the list of this test.
    #[test]
    fn quantities_without_a_unit_are_fractions_or_listed() {
        let others = [
            FAIRNESS_LEVEL,
            AGGRESSIVENESS,
            JAIN, // between 0 and 1, but rounding may exceed 1
            JAIN_P05,
            SYNCHRONISATION,
            UPDOWN_RATIO,
            STABLE,
            PROCESSOR_WAIT,
            AT_WORK,
        ];
        for quantity in QUANTITIES {
            let is_listed = others.iter().any(|other| other.name == quantity.name);
            let known = quantity.is_fraction != is_listed;
            assert_eq!(known, quantity.unit == "-", "{}", quantity.name);
        }
    }
}
