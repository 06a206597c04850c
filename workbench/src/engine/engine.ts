/** The engine's WebAssembly module. */

import type { Distribution, Explanation, Frames, Problem, Scenario, Series } from "./answers";
import type { Questions } from "./messages";

/** Exports of the WebAssembly module. Numbers have 32 bits unless stated otherwise. */
interface Exports {
  memory: WebAssembly.Memory;
  lasthop_room(bytes: number): number;
  lasthop_answer(): number;
  lasthop_answer_bytes(): number;
  lasthop_check(json: number, text_bytes: number): number;
  lasthop_begin(json: number, text_bytes: number, replication: number, with_tails: number): number;
  /** Advances a run and returns its simulated time, or NaN after a failure. [s] */
  lasthop_advance(run: number): number;
  lasthop_is_over(run: number): number;
  lasthop_values(run: number): number;
  lasthop_combine(run: number): number;
  lasthop_explain(run: number): number;
  lasthop_series(run: number): number;
  lasthop_frames(run: number, from_s: number, to_s: number): number;
  lasthop_distributions(run: number): number;
  lasthop_end(run: number): void;
}

/** A scenario text, and the overrides of its values (as `--set`). */
export interface Source {
  text: string;
  /** Overrides, each `key.path=value`. */
  settings: readonly string[];
}

/** A checked scenario, or the problems of its text. */
export type Checked =
  | { scenario: Scenario; problems: null }
  | { scenario: null; problems: Problem[] };

/** Returns whether a text is JSON; all other texts are TOML. */
export function isJson(text: string): boolean {
  return text.trimStart().startsWith("{");
}

/** Error of a request that the engine refused. Its message is shown to users. */
export class EngineError extends Error {
  override name = "EngineError";
  readonly problems: Problem[];

  constructor(answer: string) {
    const failure = JSON.parse(answer) as { error?: string; problems?: Problem[] };
    super(failure.error ?? failure.problems?.[0]?.message ?? "the engine reported no reason");
    this.problems = failure.problems ?? [];
  }
}

/** Value of the flag with which the engine also measures tails. This does not change other quantities. */
const WITH_TAILS = 1;

/**
 * An instance of the WebAssembly module. A view of its memory is used in one statement only, because growth of the
 * memory detaches the view.
 */
export class Engine implements Questions {
  readonly #exports: Exports;

  constructor(instance: WebAssembly.Instance) {
    this.#exports = instance.exports as unknown as Exports;
  }

  /** Returns the size of the instance's memory, which never shrinks. [bytes] */
  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  check(source: Source): Checked {
    const well = this.#exports.lasthop_check(Number(isJson(source.text)), this.#write(source));
    if (well) return { scenario: JSON.parse(this.#answer()) as Scenario, problems: null };
    const { problems, message } = new EngineError(this.#answer());
    const alone = [{ line: null, setting: null, path: null, message, hint: null }];
    return { scenario: null, problems: problems.length ? problems : alone };
  }

  /** Begins replication number `replication`, counted from 0. Returns the number of the run. */
  begin(source: Source, replication: number): number {
    const json = Number(isJson(source.text));
    const run = this.#exports.lasthop_begin(json, this.#write(source), replication, WITH_TAILS);
    if (!run) throw new EngineError(this.#answer());
    return run;
  }

  /** Advances a run by one slice. Returns the simulated time. [s] */
  advance(run: number): number {
    const now_s = this.#exports.lasthop_advance(run);
    if (Number.isNaN(now_s)) throw new EngineError(this.#answer());
    return now_s;
  }

  isOver(run: number): boolean {
    return this.#exports.lasthop_is_over(run) === 1;
  }

  /** Returns the measurements of a finished run, for `combine`. */
  values(run: number): Float64Array {
    if (!this.#exports.lasthop_values(run)) throw new EngineError(this.#answer());
    return new Float64Array(this.#bytes().buffer);
  }

  /**
   * Returns the result object as text. `values` are the measurements of all replications in order, and `run` is any of
   * the runs.
   */
  combine(run: number, values: Float64Array): string {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.#put(bytes);
    return this.#text(this.#exports.lasthop_combine(run));
  }

  /** Returns the explanation of a result. `values` are the measurements of all replications in order. */
  explain(run: number, values: Float64Array): Explanation {
    this.#put(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return this.#told(this.#exports.lasthop_explain(run)) as Explanation;
  }

  series(run: number): Series | null {
    return this.#told(this.#exports.lasthop_series(run)) as Series | null;
  }

  /** Returns the frames that begin in a time interval. [s] */
  frames(run: number, from_s: number, to_s: number): Frames {
    return this.#told(this.#exports.lasthop_frames(run, from_s, to_s)) as Frames;
  }

  lastFrameEnd(run: number): number | null {
    const { start_s, duration_s } = this.frames(run, 0, Infinity);
    const ends_s = start_s.map((start, at) => start + (duration_s[at] ?? 0));
    return ends_s.length ? ends_s.reduce((latest, end) => Math.max(latest, end)) : null;
  }

  queues(run: number, from_s: number, to_s: number): Series | null {
    const series = this.series(run);
    if (!series) return null;
    const first = series.time_s.findIndex((at_s) => at_s >= from_s);
    const after = series.time_s.findIndex((at_s) => at_s > to_s);
    const range: [number, number?] = after < 0 ? [Math.max(first - 1, 0)] : [first, after];
    return {
      interval_s: series.interval_s,
      time_s: series.time_s.slice(...range),
      tracks: series.tracks
        .filter((track) => track.quantity === "occupancy_packets")
        .map((track) => ({ ...track, values: track.values.slice(...range) })),
    };
  }

  distributions(run: number): Distribution[] {
    return this.#told(this.#exports.lasthop_distributions(run)) as Distribution[];
  }

  end(run: number): void {
    this.#exports.lasthop_end(run);
  }

  /** Writes text and overrides into the memory. Returns the length of the text. [bytes] */
  #write(source: Source): number {
    const encoder = new TextEncoder();
    const text = encoder.encode(source.text);
    const settings = encoder.encode(source.settings.join("\n"));
    const both = new Uint8Array(text.length + settings.length);
    both.set(text);
    both.set(settings, text.length);
    this.#put(both);
    return text.length;
  }

  #put(bytes: Uint8Array): void {
    const at = this.#exports.lasthop_room(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
  }

  #told(went_well: number): unknown {
    return JSON.parse(this.#text(went_well));
  }

  #text(went_well: number): string {
    const answer = this.#answer();
    if (!went_well) throw new EngineError(answer);
    return answer;
  }

  #answer(): string {
    return new TextDecoder().decode(this.#bytes());
  }

  /** Returns a copy of the data that the last call has stored. */
  #bytes(): Uint8Array<ArrayBuffer> {
    const { lasthop_answer, lasthop_answer_bytes, memory } = this.#exports;
    return new Uint8Array(memory.buffer, lasthop_answer() >>> 0, lasthop_answer_bytes()).slice();
  }
}
