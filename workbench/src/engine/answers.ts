/** Answers of the engine, as `lasthop ... --json` prints them. */

import type { Quantity } from "./quantities";

/** A mean and the half width of its confidence interval; null if there is none. */
export interface Estimate {
  mean: number | null;
  ci95: number | null;
}

/** A flow, station, queue or other item: its name, texts about it, and quantities by name. */
export type Item = { name: string } & Record<string, string | Estimate | null | undefined>;

/** The output of `--json`, which also has lists of items. */
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

/** A sampled quantity of an item. A value is null until it is known. */
export interface Track {
  /** The list of the answer that contains the item. */
  list: string;
  name: string;
  /** Name of the quantity, with its unit. */
  quantity: Quantity;
  values: (number | null)[];
}

/** Time series of the first replication, warm-up included. */
export interface Series {
  interval_s: number;
  time_s: number[];
  tracks: Track[];
}

export type FrameKind = "data" | "ack" | "rts" | "cts" | "cf-end" | "block-ack" | "block-ack-req";

/** Frames on the air, one list per column. The frames of an exchange are next to each other. */
export interface Frames {
  start_s: number[];
  duration_s: number[];
  sender: string[];
  /** Null for a broadcast frame. */
  receiver: (string | null)[];
  kind: FrameKind[];
  bytes: number[];
  rate_bps: number[];
  mcs: (number | null)[];
  attempt: number[];
  fate: ("delivered" | "collided" | "corrupted")[];
  discarded: boolean[];
  /** Number of slots counted down before the frame; null for a frame without backoff. */
  backoff_slots: (number | null)[];
  flow: (string | null)[];
  packet: ("segment" | "datagram" | "syn" | "ack" | "syn-ack" | null)[];
  mpdus: (number | null)[];
  mpdus_lost: (number | null)[];
}

/** Histogram of a quantity of an item: `counts[i]` values between `edges_s[i]` and `edges_s[i + 1]`. */
export interface Distribution {
  list: string;
  name: string;
  quantity: Quantity;
  edges_s: number[];
  counts: number[];
}

/** A problem of a text. */
export interface Problem {
  /** Line number from 1; null if the problem concerns no line. */
  line: number | null;
  /** The setting that has the wrong value; null for a value of the text. */
  setting: string | null;
  /** The key, such as `cell.ap.cwmin`. */
  path: string | null;
  message: string;
  hint: string | null;
}

/** A checked scenario with all defaults, as `lasthop check --json` prints it. */
export type Scenario = Record<string, unknown>;

/** A direction of a call, with the interval of its delay and loss. */
export interface Call {
  name: string;
  direction: "up" | "down";
  flows: string[];
  /** Null if no packet arrives. */
  delay_p99_s: Estimate | null;
  loss: Estimate | null;
  verdict: "good" | "bad" | "uncertain";
  /** The queue in which packets wait longest, and the fraction of all waiting time in this queue. */
  waits_at?: string;
  wait_share?: number;
}

/** The delays, limits and causes of a finished run; lists may be empty. */
export interface Explanation {
  calls: Call[];
  delays: { flow: string; total_s: number; parts: { queue: string; wait_s: number; share: number }[] }[];
  limits: { flows: string[]; all: boolean; by: "cwnd" | "rwnd" | "application" | "air" | "line" | "acks" | "losses"; where?: string; fraction?: number }[];
  /** The station that uses most air time for its goodput. */
  air: { station: string; airtime_fraction: number; goodput_share: number } | null;
  causes: { id: string; subject: string; objective: string; sentence: string }[];
}
