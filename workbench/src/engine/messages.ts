/** Messages between the page and its workers. */

import type { Distribution, Explanation, Frames, Series } from "./answers";
import type { Checked, Source } from "./engine";

/** Questions that a worker answers between two slices of a run. Run numbers are valid for this worker only. */
export interface Questions {
  check(source: Source): Checked;
  combine(run: number, values: Float64Array): string;
  explain(run: number, values: Float64Array): Explanation;
  series(run: number): Series | null;
  distributions(run: number): Distribution[] | null;
  frames(run: number, from_s: number, to_s: number): Frames;
  /** Returns the end of the last recorded frame, or null without frames. [s] */
  lastFrameEnd(run: number): number | null;
  /** Returns the queue lengths in a time interval, or null if none were recorded. */
  queues(run: number, from_s: number, to_s: number): Series | null;
  end(run: number): void;
}

/** Description of a replication to run. */
export interface Job {
  source: Source;
  /** Number of the replication, from 0. */
  replication: number;
  /** Whether the worker keeps the finished run for questions, until `end` is called. */
  keep: boolean;
}

/** Type of messages from the page to a worker. */
export type Order =
  | { order: "open"; module: WebAssembly.Module }
  | { order: "run"; id: number; job: Job }
  | { order: "cancel"; id: number }
  | { order: "ask"; id: number; question: keyof Questions; about: unknown[] };

/** Results of a replication. */
export interface Yielded {
  values: Float64Array;
  /** Number with which the page can ask this worker about the run, or 0 if the worker does not keep the run. */
  run: number;
}

/** Type of messages from a worker to the page. */
export type Report =
  | { report: "progress"; id: number; simulated_s: number }
  | { report: "over"; id: number; yielded: Yielded; memory_bytes: number }
  | { report: "cancelled"; id: number; memory_bytes: number }
  | { report: "answer"; id: number; answer: unknown }
  | { report: "failed"; id: number; message: string }
  /** The worker's instance of the engine cannot be used any more. */
  | { report: "broken"; message: string };

