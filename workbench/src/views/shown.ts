/** What all views are given. */

import type { Answer, Distribution, Explanation, Frames, Scenario, Series } from "../engine/answers";

/** A run, as far as it is. */
export interface Shown {
  /** The scenario that is shown. */
  scenario: Scenario;
  /** Over the replications that are finished; null before the first. */
  answer: Answer | null;
  /** The answer as the engine writes it. */
  text?: string;
  /** Its explanation; null before the first. */
  explanation?: Explanation | null;
  /** Those that are finished, and all. */
  done: number;
  replications: number;
  /** Series of the first replication, once it is over. */
  series: Series | null;
  /** Round-trip times, likewise. */
  distributions: Distribution[] | null;
  /** Where frames were recorded; null where there is no air. */
  air: Air | null;
  /** What a model says of the same scenario, where somebody has asked for it. */
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
  /** The last one's end. */
  to_s: number;
  /** Frames that begin in a stretch of time. */
  frames(from_s: number, to_s: number): Promise<Frames>;
  /** Fine series over the same stretch: lengths of the queues of each node. */
  queues: Series | null;
  /** Records from another instant on. */
  record(from_s: number): void;
}
