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
  /** Its explanation; null before the first. */
  explanation?: Explanation | null;
  /** Numbers of finished replications and of all. */
  done: number;
  replications: number;
  /** Series of the first replication, once it is over. */
  series: Series | null;
  /** Distributions of round-trip times of the first replication, once it is over. */
  distributions: Distribution[] | null;
  /** The recorded frames; null for a scenario without a cell. */
  air: Air | null;
  /** The prediction of a model for the same scenario, if it was requested. */
  prediction?: Answer | null;
  /** An earlier run that this one is compared with. */
  keptRun?: KeptRun | null;
}

/** A run that the user has kept, with the edits that lead from it to the run that is shown. */
export interface KeptRun {
  /** The edits in words, such as `wire.queue: 1000 → fq_codel`. */
  changes: string[];
  answer: Answer;
  explanation: Explanation | null;
  series: Series | null;
  distributions: Distribution[] | null;
}

/** Recorded frames of the first replication; the same object as long as the record is the same. */
export interface Air {
  from_s: number;
  /** The end of the last frame. */
  to_s: number;
  /** Returns the frames that begin in an interval of time. */
  frames(from_s: number, to_s: number): Promise<Frames>;
  /** Fine time series over the same interval: lengths of the queues of each node. */
  queues: Series | null;
  /** Records from another instant on. */
  record(from_s: number): void;
}
