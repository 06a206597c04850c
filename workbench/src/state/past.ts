/** Earlier texts, to which Back returns. */

import type { Source } from "../engine/engine";

/** Largest number of texts that are stored. */
const MOST = 100;
/** Longest pause within one edit. Typing without a longer pause is one edit. [ms] */
const PAUSE_MS = 1500;

export class Past {
  readonly #sources: Source[] = [];
  #typed_ms = -Infinity;

  get length(): number {
    return this.#sources.length;
  }

  /** Stores a source before it is changed. Changes that are typed without a long pause are one edit. */
  leave(source: Source, isTyped: boolean, now_ms: number): void {
    const isSameEdit = isTyped && now_ms - this.#typed_ms < PAUSE_MS;
    this.#typed_ms = isTyped ? now_ms : -Infinity;
    if (isSameEdit || source.text === "") return;
    this.#sources.push(source);
    if (this.#sources.length > MOST) this.#sources.shift();
  }

  /** Removes the last source and returns it; null if there is none. */
  back(): Source | null {
    this.#typed_ms = -Infinity;
    return this.#sources.pop() ?? null;
  }
}
