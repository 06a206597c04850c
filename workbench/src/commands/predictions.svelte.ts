/** The prediction of Python for the shown scenario. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";
import { type About, type Api, findApi } from "./api";
import { Asking } from "./asking.svelte";

/** Time without another edit before a request, since each answer needs a process. [ms] */
const DEBOUNCE_MS = 400;

export class Predictions {
  /** The description of the server; null before its reply, and on a static page. */
  about = $state.raw<About | null>(null);
  isSought = $state(true);
  api = $state.raw<Api | null>(null);
  /** Resolves when the server has replied or is known to be missing. */
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

  /** The prediction for the last requested text; null until it arrives. */
  get answer(): Answer | null {
    return this.asking.result?.answer ?? null;
  }

  /** Requests the prediction of another scenario after a pause. */
  ask(source: Source): void {
    this.asking.forget();
    this.#waiting = source;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.asking.ask(source), DEBOUNCE_MS);
  }
}
