/** Messages between the page and its workers. */

import type { Distribution, Explanation, Frames, Series } from "./answers";
import type { Checked, Source } from "./engine";

/** Questions that the worker answers between two slices of a run. Run numbers belong to the worker. */
export interface Questions {
  schema(): unknown;
  check(source: Source): Checked;
  combine(run: number, values: Float64Array): string;
  explain(run: number, values: Float64Array): Explanation;
  series(run: number): Series | null;
  distributions(run: number): Distribution[] | null;
  frames(run: number, from_s: number, to_s: number): Frames;
  /** Returns the end of the last recorded frame; null without frames. [s] */
  lastFrameEnd(run: number): number | null;
  /** Returns the lengths of queues in an interval of time. */
  queues(run: number, from_s: number, to_s: number): Series | null;
  end(run: number): void;
}

/** One replication to run. */
export interface Job {
  source: Source;
  /** Number of the replication, from 0. */
  replication: number;
  /** Whether the run is kept for questions, until `end`. */
  keep: boolean;
}

/** Message from the page to a worker. */
export type Order =
  | { order: "open"; module: WebAssembly.Module }
  | { order: "run"; id: number; job: Job }
  | { order: "cancel"; id: number }
  | { order: "ask"; id: number; question: keyof Questions; about: unknown[] };

/** The results of a replication. */
export interface Yielded {
  values: Float64Array;
  /** The worker's number of the run; 0 if it was not kept. */
  run: number;
}

/** Message from a worker to the page. */
export type Report =
  | { report: "progress"; id: number; simulated_s: number }
  | { report: "over"; id: number; yielded: Yielded; memory_bytes: number }
  | { report: "cancelled"; id: number; memory_bytes: number }
  | { report: "answer"; id: number; answer: unknown }
  | { report: "failed"; id: number; message: string }
  /** The worker's instance cannot be used any more. */
  | { report: "broken"; message: string };

