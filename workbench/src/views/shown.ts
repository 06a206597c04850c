/** Data that the views show. */

import type { Answer, Distribution, Explanation, Frames, Scenario, Series } from "../engine/answers";

/** Results of a run, which may not be finished. */
export interface Shown {
  /** Scenario of the run. */
  scenario: Scenario;
  /** Result over the finished replications, or null before the first replication has finished. */
  answer: Answer | null;
  /** Result object as text. */
  text?: string;
  /** Explanation of the result, or null before the first replication has finished. */
  explanation?: Explanation | null;
  /** Number of finished replications, of `replications` in total. */
  done: number;
  replications: number;
  /** Time series of the first replication, or null until it has finished. */
  series: Series | null;
  /** Distributions of round-trip times in the first replication, or null until it has finished. */
  distributions: Distribution[] | null;
  /** Recorded frames, or null for a scenario without a cell. */
  air: Air | null;
  /** Prediction of a model for this scenario, if it was requested. */
  prediction?: Answer | null;
  /** Earlier run with which this run is compared, if there is one. */
  keptRun?: KeptRun | null;
}

/** A run that the user has kept for comparison, and the edits that lead from it to the shown run. */
export interface KeptRun {
  /** Descriptions of the edits, such as `wire.queue: 1000 → fq_codel`. */
  changes: string[];
  answer: Answer;
  explanation: Explanation | null;
  series: Series | null;
  distributions: Distribution[] | null;
}

/** Recorded frames of the first replication. A new recording is a new object. */
export interface Air {
  from_s: number;
  /** End of the last frame. [s] */
  to_s: number;
  /** Returns the frames that begin in a time interval. */
  frames(from_s: number, to_s: number): Promise<Frames>;
  /** Time series of each node's queue length over the interval of the recording; null if none was recorded. */
  queues: Series | null;
  /** Records frames from another time on. [s] */
  record(from_s: number): void;
}
