/** What Python predicts for the scenario that is shown. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";
import { type About, type Api, findApi, Refused, type Told } from "./api";

/** Time without another scenario after which the models are asked: each question is a process. [ms] */
const PAUSE_MS = 400;

export class Predictions {
  /** Null while nobody has answered, and on a static page. */
  about = $state.raw<About | null>(null);
  isSought = $state(true);
  told = $state.raw<Told<Answer> | null>(null);
  /** Why there is none. */
  refusal = $state.raw<Refused | null>(null);
  /** Once it is known who answers. */
  readonly found: Promise<About | null>;

  /** Null as `about`. */
  api = $state.raw<Api | null>(null);

  #asked: AbortController | null = null;
  #waiting: Source | null = null;

  constructor() {
    this.found = this.#find();
  }

  async #find(): Promise<About | null> {
    const found = await findApi();
    this.isSought = false;
    if (!found) return null;
    this.api = found.api;
    this.about = found.about;
    if (this.#waiting) void this.ask(this.#waiting);
    return found.about;
  }

  /** Asks for another scenario's prediction. */
  async ask(source: Source): Promise<void> {
    this.#asked?.abort();
    this.#waiting = source;
    this.told = null;
    this.refusal = null;
    if (!this.api) return;
    const asked = new AbortController();
    this.#asked = asked;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (asked.signal.aborted) return;
    try {
      const told = await this.api.predict(source, asked.signal);
      if (!asked.signal.aborted) this.told = told;
    } catch (error) {
      if (asked.signal.aborted) return;
      const message = "the server of this page does not answer";
      this.refusal = error instanceof Refused ? error : new Refused(message, null, 0);
    }
  }
}
