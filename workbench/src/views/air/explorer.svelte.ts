/** State of the view of the air: visible interval, selected frame, and fetched frames. */

import type { Scenario } from "../../engine/answers";
import { plain } from "../digits";
import type { Air } from "../shown";
import { firstFrom, type Frame } from "./frames";
import { accessOf, countdownOf, type Access, type Countdown } from "./idle";
import { Store } from "./store";
import { tellFrame } from "./words";

/** Shortest visible interval [s], and number of frames that are visible at first. */
const MIN_S = 20e-6;
const AT_FIRST = 36;

export class Explorer {
  view = $state.raw<[number, number]>([0, 1]);
  selected = $state.raw<Frame | null>(null);
  /** Sentence about the selected frame, for screen readers. */
  announcement = $state("");
  failure = $state("");
  /** Number of times that fetched frames have arrived. */
  arrived = $state(0);
  readonly access: Access | null;
  readonly store: Store;
  private known = new Map<Frame, Countdown>();

  constructor(
    readonly air: Air,
    scenario: Scenario,
  ) {
    this.access = accessOf(scenario);
    this.store = new Store(air, this.access, () => {
      // the countdown of a frame may change when earlier frames arrive
      this.known.clear();
      this.arrived += 1;
      this.follow();
    });
    this.view = [air.from_s, Math.max(air.to_s, air.from_s + MIN_S)];
  }

  get frames(): readonly Frame[] {
    void this.arrived;
    return this.store.frames;
  }

  countdown = (frame: Frame): Countdown | null => {
    if (!this.access) return null;
    let countdown = this.known.get(frame);
    if (!countdown) this.known.set(frame, (countdown = countdownOf(frame, this.store.gaps, this.access)));
    return countdown;
  };

  /**
   * Shows a few dozen frames from the requested time on, or from the start of the recording. A recording from the start
   * of the run is shown from its middle, because the air is idle at the start.
   */
  async start(asked_s: number | null): Promise<void> {
    const { from_s, to_s } = this.air;
    const isInside = asked_s !== null && asked_s >= from_s && asked_s < to_s;
    const at_s = isInside ? asked_s : from_s > 0 ? from_s : (from_s + to_s) / 2;
    // aggregates are long, so that a few blocks may contain very few frames
    let reach_s = this.store.span_s;
    do {
      reach_s *= 2;
      await this.load(at_s, at_s + reach_s);
    } while (
      this.store.frames.length - firstFrom(this.store.frames, at_s) <= AT_FIRST &&
      at_s + reach_s < to_s &&
      !this.failure
    );
    const { frames } = this.store;
    const first = firstFrom(frames, at_s);
    const begin = frames[first] ?? frames[0];
    const end = frames[Math.min(frames.length - 1, first + AT_FIRST)] ?? begin;
    if (!begin || !end) return this.look(from_s, to_s);
    const span_s = Math.max(end.end_s - begin.start_s, 1e-3);
    this.look(begin.start_s - 0.04 * span_s, begin.start_s + span_s);
  }

  /** Sets the visible interval, within the recording. */
  look = (from_s: number, to_s: number): void => {
    const { air } = this;
    const whole_s = Math.max(air.to_s - air.from_s, MIN_S);
    const span_s = Math.min(Math.max(to_s - from_s, MIN_S), whole_s);
    const middle_s = (from_s + to_s) / 2;
    const begin_s = Math.max(air.from_s, Math.min(middle_s - span_s / 2, air.to_s - span_s));
    this.view = [begin_s, begin_s + span_s];
    this.follow();
    void this.load(begin_s, begin_s + span_s);
  };

  /** Sets the middle of the visible interval. */
  turnTo = (middle_s: number): void => {
    const span_s = this.view[1] - this.view[0];
    this.look(middle_s - span_s / 2, middle_s + span_s / 2);
  };

  /** Selects the first visible frame, after it has arrived, if the selected frame is no longer visible. */
  private follow(): void {
    const { selected, store, view } = this;
    if (!selected || this.isInView(selected) || !store.has(...view)) return;
    const first = store.frames[firstFrom(store.frames, view[0])];
    this.tell(first && this.isInView(first) ? first : null);
  }

  private tell(frame: Frame | null): void {
    this.selected = frame;
    this.announcement = frame ? tellFrame(frame, this.countdown(frame)) : "";
  }

  /** Moves the visible interval by its own length: later (1) or earlier (-1). */
  page = (by: 1 | -1): void => {
    this.turnTo((this.view[0] + this.view[1]) / 2 + by * (this.view[1] - this.view[0]));
  };

  /** Zooms around the selected frame if it is visible, or else around the middle. */
  zoom = (factor: number): void => {
    const [from_s, to_s] = this.view;
    const frame = this.selected;
    const around_s =
      frame && this.isInView(frame) ? (frame.start_s + frame.end_s) / 2 : (from_s + to_s) / 2;
    this.look(around_s - (around_s - from_s) * factor, around_s + (to_s - around_s) * factor);
  };

  choose = (frame: Frame | null): void => {
    this.tell(frame);
    if (!frame) return;
    const [from_s, to_s] = this.view;
    if (frame.start_s >= from_s && frame.end_s <= to_s) return;
    const span_s = Math.max(to_s - from_s, 1.2 * (frame.end_s - frame.start_s));
    const middle_s = (frame.start_s + frame.end_s) / 2;
    this.look(middle_s - span_s / 2, middle_s + span_s / 2);
  };

  /** Selects the next or previous frame. Frames that are missing are fetched. */
  step = async (by: 1 | -1): Promise<void> => {
    const { air, store, selected, view } = this;
    if (!selected || !this.isInView(selected)) {
      const at = by > 0 ? firstFrom(store.frames, view[0]) : firstFrom(store.frames, view[1]) - 1;
      return this.choose(store.frames[Math.max(0, at)] ?? null);
    }
    let [low_s, high_s] = [selected.start_s, selected.end_s];
    while (!this.failure) {
      await this.load(low_s, high_s);
      const { frames } = store;
      const next = frames[frames.indexOf(selected, firstFrom(frames, selected.start_s)) + by];
      // frames between the fetched blocks may be missing, so that the next fetched frame need not be the next frame
      if (next && store.has(Math.min(next.start_s, low_s), Math.max(next.start_s, high_s))) {
        return this.choose(next);
      }
      if (by > 0 ? high_s > air.to_s : low_s < air.from_s) return;
      if (by > 0) high_s += store.span_s;
      else low_s -= store.span_s;
    }
  };

  /** Selects the first or the last frame of the recording. */
  end = async (isLast: boolean): Promise<void> => {
    const at_s = isLast ? this.air.to_s : this.air.from_s;
    await this.load(at_s, at_s);
    this.choose(this.store.frames.at(isLast ? -1 : 0) ?? null);
  };

  /** Shows a time. If the time is outside the recording, a new recording starts at this time. */
  go(at_s: number): void {
    const span_s = this.view[1] - this.view[0];
    if (at_s >= this.air.from_s && at_s < this.air.to_s) this.look(at_s, at_s + span_s);
    else this.record(at_s);
  }

  record(from_s: number): void {
    this.announcement = `Frames are being recorded from ${plain(from_s)} s on.`;
    this.air.record(from_s);
  }

  private async load(from_s: number, to_s: number): Promise<void> {
    try {
      // fetches more than the visible interval, because countdowns begin before their frames, and countdowns of later
      // frames may be visible
      await this.store.load(from_s - this.store.span_s, to_s + this.store.span_s);
      this.failure = "";
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  private isInView({ start_s, end_s }: Frame): boolean {
    return end_s > this.view[0] && start_s < this.view[1];
  }
}
