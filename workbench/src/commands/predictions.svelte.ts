/** What Python predicts for the scenario that is shown. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";
import { type About, type Api, findApi } from "./api";
import { Asking } from "./asking.svelte";

/** Time without another text after which Python is asked: each answer is a process. [ms] */
const DEBOUNCE_MS = 400;

export class Predictions {
  /** Null while nobody has answered, and on a static page. */
  about = $state.raw<About | null>(null);
  isSought = $state(true);
  api = $state.raw<Api | null>(null);
  /** Resolves once it is known whether Python is there. */
  readonly server: Promise<About | null>;
  readonly asking = new Asking<Answer>("predict", () => this.api);

  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: Source | null = null;

  constructor() {
    this.server = findApi().then((server) => {
      this.isSought = false;
      this.api = server?.api ?? null;
      this.about = server?.about ?? null;
      if (this.#waiting) this.ask(this.#waiting);
      return this.about;
    });
  }

  /** That of the last text that was asked for; null until it is there. */
  get answer(): Answer | null {
    return this.asking.result?.answer ?? null;
  }

  /** Asks for another scenario's prediction, a moment later. */
  ask(source: Source): void {
    this.asking.forget();
    this.#waiting = source;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.asking.ask(source), DEBOUNCE_MS);
  }
}
