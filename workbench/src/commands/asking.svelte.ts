/** State of a command: whether it runs, its result, and the scenario text of the result. */

import type { Source } from "../engine/engine";
import { type Api, type Options, Refused } from "./api";

export interface Result<T> {
  answer: T;
  notes: readonly string[];
  /** Scenario text and overrides of the result. */
  source: Source;
}

export interface Refusal {
  message: string;
  hint: string | null;
}

export class Asking<T> {
  readonly #command: string;
  readonly #api: () => Api | null;
  /** Result of the last finished command. */
  result = $state.raw<Result<T> | null>(null);
  /** Failure of the last command. */
  refusal = $state.raw<Refusal | null>(null);
  /** Wall-clock time since the start of the running command, or null if none is running. [s] */
  running_s = $state.raw<number | null>(null);
  wasStopped = $state(false);

  #asked: AbortController | null = null;

  constructor(command: string, api: () => Api | null) {
    this.#command = command;
    this.#api = api;
  }

  /** Runs the command on a scenario text, after cancelling its previous run if that is not finished. */
  async ask(source: Source, options: Options = {}): Promise<void> {
    this.#end();
    const api = this.#api();
    if (!api) return;
    const asked = new AbortController();
    this.#asked = asked;
    this.refusal = null;
    this.wasStopped = false;
    this.running_s = 0;
    const began_ms = performance.now();
    const clock = setInterval(() => {
      if (this.#asked === asked) this.running_s = Math.floor((performance.now() - began_ms) / 1e3);
    }, 500);
    try {
      const { answer, notes } = await api.ask(this.#command, source, options, asked.signal);
      if (this.#asked === asked) this.result = { answer: answer as T, notes, source };
    } catch (error) {
      if (this.#asked !== asked) return;
      const hint = error instanceof Refused ? error.hint : null;
      this.refusal = { message: error instanceof Error ? error.message : String(error), hint };
    } finally {
      clearInterval(clock);
      if (this.#asked === asked) this.#end();
    }
  }

  /** Cancels the running command, and keeps the previous result. */
  stop(): void {
    this.wasStopped = this.#asked !== null;
    this.#end();
  }

  /** Cancels the running command, and drops the result. */
  forget(): void {
    this.#end();
    this.result = null;
    this.refusal = null;
  }

  #end(): void {
    const asked = this.#asked;
    this.#asked = null;
    this.running_s = null;
    asked?.abort();
  }
}

/** Returns whether a result belongs to a scenario text other than the present text. */
export function isOlder(result: Result<unknown>, source: Source): boolean {
  const { text, settings } = result.source;
  return text !== source.text || settings.join("\n") !== source.settings.join("\n");
}
