/** Results of the engine, in the format of `lasthop ... --json`. */

import type { Quantity } from "./quantities";

/** A mean and the half width of its confidence interval. The half width is null if there is no interval. */
export interface Estimate {
  mean: number | null;
  ci95: number | null;
}

/** An item of a result, such as a flow, station or queue: its name, texts and quantities. */
export type Item = { name: string } & Record<string, string | Estimate | null | undefined>;

/** Result object of `--json`, with lists of items as further keys. */
export interface Answer {
  kind: "prediction" | "simulation" | "emulation";
  scenario: string;
  seed: number;
  replications: number;
  version: string;
  duration_s: number;
  warmup_s: number;
  [list: string]: Item[] | Record<string, Estimate> | string | number | undefined;
}

/** Samples of a quantity of an item. A sample is null while the quantity is not known. */
export interface Track {
  /** List of the result that contains the item. */
  list: string;
  name: string;
  /** Name of the quantity, with its unit. */
  quantity: Quantity;
  values: (number | null)[];
}

/** Time series of the first replication, including the warm-up. */
export interface Series {
  interval_s: number;
  time_s: number[];
  tracks: Track[];
}

export type FrameKind = "data" | "ack" | "rts" | "cts" | "cf-end" | "block-ack" | "block-ack-req";

/** Frames on the air as columns of values. The frames of an exchange are consecutive. */
export interface Frames {
  start_s: number[];
  duration_s: number[];
  sender: string[];
  /** Receiving node; null for a broadcast frame. */
  receiver: (string | null)[];
  kind: FrameKind[];
  bytes: number[];
  rate_bps: number[];
  mcs: (number | null)[];
  attempt: number[];
  fate: ("delivered" | "collided" | "corrupted")[];
  discarded: boolean[];
  /** Number of backoff slots counted down before the frame; null for a frame without backoff. */
  backoff_slots: (number | null)[];
  flow: (string | null)[];
  packet: ("segment" | "datagram" | "syn" | "ack" | "syn-ack" | null)[];
  mpdus: (number | null)[];
  mpdus_lost: (number | null)[];
}

/** Histogram of a quantity of an item. `counts[i]` values are between `edges_s[i]` and `edges_s[i + 1]`. */
export interface Distribution {
  list: string;
  name: string;
  quantity: Quantity;
  edges_s: number[];
  counts: number[];
}

/** A problem of a scenario text. */
export interface Problem {
  /** Line number from 1, or null if the problem belongs to no line. */
  line: number | null;
  /** Override that contains the wrong value, or null if the value is in the text. */
  setting: string | null;
  /** Key path, such as `cell.ap.cwmin`, or null if the problem belongs to no key. */
  path: string | null;
  message: string;
  hint: string | null;
}

/** Checked scenario with all defaults, in the format of `lasthop check --json`. */
export type Scenario = Record<string, unknown>;

/** One direction of a call, with its delay, its loss and their confidence intervals. */
export interface Call {
  name: string;
  direction: "up" | "down";
  flows: string[];
  /** 99th percentile of the one-way delay; null if no packet arrives. */
  delay_p99_s: Estimate | null;
  loss: Estimate | null;
  verdict: "good" | "bad" | "uncertain";
  /** Queue in which the packets wait longest, and the fraction of the total waiting time in this queue. */
  waits_at?: string;
  wait_share?: number;
}

/** Explanation of a finished run: delays, limits and causes. The lists may be empty. */
export interface Explanation {
  calls: Call[];
  delays: { flow: string; total_s: number; parts: { queue: string; wait_s: number; share: number }[] }[];
  limits: { flows: string[]; all: boolean; by: "cwnd" | "rwnd" | "application" | "air" | "line" | "acks" | "losses"; where?: string; fraction?: number }[];
  /** Station that uses the most air time in relation to its goodput, or null. */
  air: { station: string; airtime_fraction: number; goodput_share: number } | null;
  causes: { id: string; subject: string; objective: string; sentence: string }[];
}
