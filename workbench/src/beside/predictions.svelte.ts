/** What Python predicts for the scenario that is shown. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";
import { type About, type Api, findApi, Refused } from "./api";

export class Predictions {
  /** Null while nobody has answered, and on a static page. */
  about = $state.raw<About | null>(null);
  isSought = $state(true);
  answer = $state.raw<Answer | null>(null);
  /** Why there is none. */
  refusal = $state.raw<{ message: string; hint: string | null } | null>(null);

  #api: Api | null = null;
  #asked: AbortController | null = null;
  #waiting: Source | null = null;

  constructor() {
    void findApi().then((found) => {
      this.isSought = false;
      if (!found) return;
      this.#api = found.api;
      this.about = found.about;
      if (this.#waiting) void this.ask(this.#waiting);
    });
  }

  /** Asks for another scenario's prediction. */
  async ask(source: Source): Promise<void> {
    this.#asked?.abort();
    this.#waiting = source;
    this.answer = null;
    this.refusal = null;
    if (!this.#api) return;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const answer = await this.#api.predict(source, asked.signal);
      if (!asked.signal.aborted) this.answer = answer;
    } catch (error) {
      if (asked.signal.aborted) return;
      const hint = error instanceof Refused ? error.hint : null;
      this.refusal = { message: error instanceof Error ? error.message : String(error), hint };
    }
  }
}
