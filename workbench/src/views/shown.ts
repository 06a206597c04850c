/** The data of all views. */

import type { Answer, Distribution, Explanation, Frames, Scenario, Series } from "../engine/answers";

/** The results of a run so far. */
export interface Shown {
  /** The scenario that is shown. */
  scenario: Scenario;
  /** The answer over the finished replications; null before the first. */
  answer: Answer | null;
  /** The answer as the engine writes it. */
  text?: string;
  /** Explanation of the answer; null before the first replication. */
  explanation?: Explanation | null;
  /** Numbers of finished replications and of all replications. */
  done: number;
  replications: number;
  /** Series of the first replication, once it is finished. */
  series: Series | null;
  /** Distributions of round-trip times of the first replication, once it is finished. */
  distributions: Distribution[] | null;
  /** The recorded frames; null for a scenario without a cell. */
  air: Air | null;
  /** The prediction of a model for the same scenario, if it was requested. */
  prediction?: Answer | null;
  /** An earlier run with which this run is compared. */
  keptRun?: KeptRun | null;
}

/** A run that the user has kept, with the edits that lead from it to the run that is shown. */
export interface KeptRun {
  /** Descriptions of the edits, such as `wire.queue: 1000 → fq_codel`. */
  changes: string[];
  answer: Answer;
  explanation: Explanation | null;
  series: Series | null;
  distributions: Distribution[] | null;
}

/** Recorded frames of the first replication. The object stays the same while the recording stays the same. */
export interface Air {
  from_s: number;
  /** The end of the last frame. [s] */
  to_s: number;
  /** Returns the frames that begin in an interval of time. */
  frames(from_s: number, to_s: number): Promise<Frames>;
  /** Fine time series over the same interval: lengths of the queues of each node. */
  queues: Series | null;
  /** Records frames from another instant on. [s] */
  record(from_s: number): void;
}
