/** Playback: moves the visible interval over time at a chosen speed. */

import type { Explorer } from "./explorer.svelte";

/** Simulated time per second of playback. [s] */
export const SPEEDS = [0.0002, 0.001, 0.005, 0.02, 0.1] as const;
/** Time between two steps if the user prefers reduced motion. [ms] */
const STEP_MS = 1200;
/** Limit of the time between two pictures. After a longer pause, the interval moves only by this time. [s] */
const MAX_S = 0.1;

export class Player {
  isPlaying = $state(false);
  speed = $state<number>(SPEEDS[1]);
  #request = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts playback from the visible interval. With reduced motion, the playback steps from frame to frame. */
  play(explorer: Explorer, isStill: boolean): void {
    this.pause();
    this.isPlaying = true;
    if (isStill) this.#step(explorer);
    else this.#move(explorer, null);
  }

  pause(): void {
    this.isPlaying = false;
    cancelAnimationFrame(this.#request);
    clearTimeout(this.#timer);
  }

  #move(explorer: Explorer, before_ms: number | null): void {
    this.#request = requestAnimationFrame((now_ms) => {
      const past_s = before_ms === null ? 0 : Math.min((now_ms - before_ms) / 1e3, MAX_S);
      const [from_s, to_s] = explorer.view;
      const shift_s = past_s * this.speed;
      explorer.look(from_s + shift_s, to_s + shift_s);
      if (shift_s > 0 && explorer.view[1] >= explorer.air.to_s) return this.pause();
      this.#move(explorer, now_ms);
    });
  }

  #step(explorer: Explorer): void {
    const before = explorer.selected;
    void explorer.step(1).then(() => {
      if (!this.isPlaying) return;
      if (explorer.selected === before) return this.pause();
      this.#timer = setTimeout(() => this.#step(explorer), STEP_MS);
    });
  }
}
