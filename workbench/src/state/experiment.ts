/** A run of a scenario: its replications, and a result after each replication. */

import type { Answer, Distribution, Explanation, Scenario, Series } from "../engine/answers";
import type { Source } from "../engine/engine";
import { Cancelled, type Finished, type RunHandle, type Pool } from "../engine/pool";
import { numberOf } from "../views/answer";
import { durationOf_s, plainSettings, seriesSettings } from "./recording";

/** Shortest time between two results, because combining many short replications takes time. [ms] */
const ANSWER_MS = 100;

/** Progress of a run. */
export interface Progress {
  done: number;
  replications: number;
  /** Fraction of the simulated time of all replications that is finished, from 0 to 1. [-] */
  fraction: number;
}

/** Callbacks for the events of a run. */
export interface Listener {
  progress(progress: Progress): void;
  /** Called with time series and distributions of the first replication when it has finished. */
  recorded(series: Series | null, distributions: Distribution[] | null): void;
  /** Called with each new result: the object, its text, and its explanation. */
  answered(answer: Answer, done: number, text: string, explanation: Explanation): void;
}

/**
 * Runs all replications of a scenario.
 *
 * Replications may finish in any order. A result combines only the first n replications, without a gap. Therefore the
 * result over n replications does not depend on the number of workers or on their speed.
 */
export async function experiment(
  pool: Pool,
  source: Source,
  scenario: Scenario,
  stop: AbortSignal,
  listener: Listener,
): Promise<void> {
  const failing = new AbortController();
  // AbortSignal.any is not used, because browsers do not free its signals and their listeners.
  const { signal } = failing;
  stop.addEventListener("abort", () => failing.abort(), { once: true });
  const replications = numberOf(scenario, "replications") ?? 0;
  const duration_s = durationOf_s(scenario);
  const values: (Float64Array | undefined)[] = [];
  let first: RunHandle | null = null;
  let done = 0;
  let simulated_s = 0;
  let answered_ms = 0;
  let combining: Promise<void> = Promise.resolve();

  const tell = (more_s: number) => {
    simulated_s += more_s;
    const fraction = Math.min(1, simulated_s / (duration_s * replications));
    listener.progress({ done, replications, fraction });
  };

  /** Combines the finished replications before the first unfinished replication, if there are more of them than in the
   * last result. */
  const combine = async () => {
    const gap = values.findIndex((value) => value === undefined);
    const ready = values.slice(0, gap < 0 ? values.length : gap) as Float64Array[];
    if (!first || signal.aborted || ready.length <= done) return;
    const isLast = ready.length === replications;
    if (!isLast && done > 0 && performance.now() - answered_ms < ANSWER_MS) return;
    answered_ms = performance.now();
    done = ready.length;
    const all = joined(ready);
    const [text, explanation] = await Promise.all([first.ask("combine", all), first.ask("explain", all)]);
    if (signal.aborted) return;
    listener.answered(JSON.parse(text) as Answer, done, text, explanation);
    tell(0);
  };

  const simulate = async (replication: number) => {
    let reached_s = 0;
    const progress = (now_s: number) => {
      if (!signal.aborted) tell(now_s - reached_s);
      reached_s = now_s;
    };
    const finished = await replicate(pool, source, scenario, replication, signal, progress);
    progress(duration_s);
    values[replication] = finished.values;
    if (replication === 0) {
      first = finished.handle;
      if (!first) throw new Error("the first replication was not kept");
      const [series, distributions] = await Promise.all([
        first.ask("series"),
        first.ask("distributions"),
      ]);
      if (!signal.aborted) listener.recorded(series, distributions);
    }
    combining = combining.then(combine);
    await combining;
  };

  tell(0);
  try {
    await inOrder(replications, pool.size, simulate, failing);
    if (signal.aborted) throw new Cancelled("cancelled");
  } finally {
    (first as RunHandle | null)?.end();
  }
}

/**
 * Runs `count` jobs in the order of their numbers. Several jobs run simultaneously, so that all workers are busy. The
 * first failure ends all jobs.
 */
async function inOrder(
  count: number,
  workers: number,
  job: (number: number) => Promise<void>,
  failing: AbortController,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count && !failing.signal.aborted) {
      try {
        await job(next++);
      } catch (error) {
        failing.abort();
        throw error;
      }
    }
  };
  const lanes = Array.from({ length: Math.min(workers + 1, count) }, lane);
  const ends = await Promise.allSettled(lanes);
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  const cause = failures.find((failure) => !(failure instanceof Cancelled)) ?? failures[0];
  if (cause !== undefined) throw cause;
}

async function replicate(
  pool: Pool,
  source: Source,
  scenario: Scenario,
  replication: number,
  signal: AbortSignal,
  progress: (simulated_s: number) => void,
): Promise<Finished> {
  const keep = replication === 0;
  const record = keep ? seriesSettings(scenario) : plainSettings();
  const job = { source: laidOver(source, record), replication, keep };
  const finished = await pool.run(job, signal, progress);
  if (!signal.aborted) return finished;
  finished.handle?.end();
  throw new Cancelled("cancelled");
}

/** Returns a source with additional overrides. */
export function laidOver(source: Source, settings: readonly string[]): Source {
  return { text: source.text, settings: [...source.settings, ...settings] };
}

function joined(parts: Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
