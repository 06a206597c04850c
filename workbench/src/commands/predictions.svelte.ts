/** Prediction of the present scenario by the server's Python. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";
import { type About, type Api, findApi } from "./api";
import { Asking } from "./asking.svelte";

/** Time without an edit before a prediction is requested, because each prediction needs a process. [ms] */
const DEBOUNCE_MS = 400;

export class Predictions {
  /** Description of the server, or null before its reply and on a static page. */
  about = $state.raw<About | null>(null);
  isSought = $state(true);
  api = $state.raw<Api | null>(null);
  /** Promise that resolves when the server has replied, or null when there is no server. */
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

  /** Prediction for the last requested scenario, or null until it arrives. */
  get answer(): Answer | null {
    return this.asking.result?.answer ?? null;
  }

  /** Requests the prediction of a scenario after a pause. */
  ask(source: Source): void {
    this.asking.forget();
    this.#waiting = source;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.asking.ask(source), DEBOUNCE_MS);
  }
}
