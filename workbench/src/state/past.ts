/** History of scenario texts, for the button Back. */

import type { Source } from "../engine/engine";

/** Largest number of texts in the history. */
const MOST = 100;
/** Longest pause between key presses that belong to one edit. [ms] */
const PAUSE_MS = 1500;

export class Past {
  readonly #sources: Source[] = [];
  #typed_ms = -Infinity;

  get length(): number {
    return this.#sources.length;
  }

  /** Adds a source to the history before it is changed. Key presses without a long pause count as one edit. */
  leave(source: Source, isTyped: boolean, now_ms: number): void {
    const isSameEdit = isTyped && now_ms - this.#typed_ms < PAUSE_MS;
    this.#typed_ms = isTyped ? now_ms : -Infinity;
    if (isSameEdit || source.text === "") return;
    this.#sources.push(source);
    if (this.#sources.length > MOST) this.#sources.shift();
  }

  /** Removes the last source of the history and returns it, or null if the history is empty. */
  back(): Source | null {
    this.#typed_ms = -Infinity;
    return this.#sources.pop() ?? null;
  }
}
