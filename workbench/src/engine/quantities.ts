/** Names of quantities. Written by .ci/quantities.py from the engine's registry. */

export type Quantity =
  | "goodput_bps" | "goodput_share" | "fairness_level" | "rtt_s" | "rtt_p50_s" | "rtt_p95_s" |
  "rtt_p99_s" | "one_way_delay_s" | "one_way_delay_p99_s" | "cwnd_packets" | "cwnd_max_packets" |
  "cwnd_limited_fraction" | "rwnd_limited_fraction" | "app_limited_fraction" | "loss_probability" |
  "retransmissions" | "reports" | "report_delivery" | "report_delay_s" | "report_delay_p95_s" |
  "chunks" | "late_chunks" | "chunk_completion_s" | "chunk_completion_p95_s" | "video_bitrate_bps" |
  "switches" | "stalls" | "stalled_fraction" | "startup_s" | "sent_rate_bps" | "freezes" |
  "frozen_fraction" | "qoo_score" | "buffer_s" | "connections" | "connections_opened" |
  "connections_closed" | "airtime_fraction" | "dummy_fraction" | "aggressiveness" |
  "connections_finished" | "connections_refused" | "completion_s" | "completion_p50_s" |
  "completion_p95_s" | "unfinished" | "transfer_rate_bps" | "bypass_packets" | "collision_rate" |
  "frame_failure_rate" | "discard_probability" | "downlink_failure_rate" |
  "downlink_discard_probability" | "mpdus_per_ppdu" | "reordering_s" | "downlink_mpdus_per_ppdu" |
  "downlink_reordering_s" | "queue_packets" | "occupancy_packets" | "target_share" | "queue_share" |
  "occupancy_error_packets" | "empty_fraction" | "settling_s" | "occupancy_max_packets" |
  "occupancy_sd_packets" | "drop_probability" | "mark_probability" | "sojourn_s" | "wait_s" |
  "sojourn_p99_s" | "acks_filtered" | "sparse_flows" | "bulk_flows" | "utilisation" |
  "utilisation_min" | "capacity_bps" | "ping_rtt_s" | "ping_rtt_p95_s" | "ping_loss_probability" |
  "active_stations" | "jain" | "synchronisation" | "starved_flows" | "jain_p05" |
  "longest_starved_s" | "updown_ratio" | "busy_fraction" | "stable" | "rightmost_root" | "period_s"
  | "packets_delivered" | "lateness_p99_s" | "processor_wait" | "carried_pps" | "at_work_fraction" |
  "packets_at_once" | "foreign_packets" | "events";
