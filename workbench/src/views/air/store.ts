/** Store of fetched frames: blocks of the recording, and the idle gaps between frames. */

import type { Air } from "../shown";
import { framesOf, type Frame } from "./frames";
import { gapsOf, type Access, type Gap } from "./idle";

const BLOCKS = 64;
/** Largest number of blocks per request, so that a request does not take long. */
const AT_ONCE = 8;

interface Block {
  frames: Frame[];
  busy: number;
  failed: number;
}

export class Store {
  /** All fetched frames, in order. */
  frames: Frame[] = [];
  gaps: Gap[] = [];
  longest_s = 0;
  readonly span_s: number;
  private blocks: (Block | null)[] = new Array<Block | null>(BLOCKS).fill(null);
  private asked = new Set<number>();

  constructor(
    private readonly air: Air,
    private readonly access: Access | null,
    private readonly changed: () => void,
  ) {
    this.span_s = Math.max(air.to_s - air.from_s, 1e-6) / BLOCKS;
  }

  /** Returns the busy fraction and the failed fraction of each block, or null for a block that was not fetched. */
  overview(): ({ busy: number; failed: number } | null)[] {
    return this.blocks;
  }

  has(from_s: number, to_s: number): boolean {
    return this.numbers(from_s, to_s).every((at) => this.blocks[at]);
  }

  /** Fetches the missing blocks of a time interval. */
  async load(from_s: number, to_s: number): Promise<void> {
    const lacking = this.numbers(from_s, to_s).filter((at) => !this.asked.has(at));
    const runs: number[][] = [];
    for (const at of lacking) {
      const run = runs.at(-1);
      if (run && run.at(-1) === at - 1 && run.length < AT_ONCE) run.push(at);
      else runs.push([at]);
    }
    lacking.forEach((at) => this.asked.add(at));
    for (const run of runs) await this.fetch(run);
  }

  private async fetch(run: number[]): Promise<void> {
    const start_s = this.start_s(run[0]!);
    // the last block must include frames that begin exactly at its end
    const isEnd = run.at(-1) === BLOCKS - 1;
    const end_s = isEnd ? Infinity : this.start_s(run.at(-1)! + 1);
    try {
      const frames = framesOf(
        await this.air.frames(start_s, isEnd ? this.air.to_s + this.span_s : end_s),
      );
      for (const at of run) this.put(at, frames);
      this.merge();
    } catch (error) {
      run.forEach((at) => this.asked.delete(at));
      throw error;
    }
    this.changed();
  }

  private put(at: number, frames: Frame[]): void {
    const from_s = this.start_s(at);
    const to_s = at === BLOCKS - 1 ? Infinity : this.start_s(at + 1);
    const own = frames.filter(({ start_s }) => start_s >= from_s && start_s < to_s);
    let busy_s = 0;
    let failed_s = 0;
    let until_s = from_s;
    for (const frame of own) {
      const long_s = frame.end_s - frame.start_s;
      this.longest_s = Math.max(this.longest_s, long_s);
      if (frame.fate !== "delivered") failed_s += long_s;
      busy_s += Math.max(0, frame.end_s - Math.max(until_s, frame.start_s));
      until_s = Math.max(until_s, frame.end_s);
    }
    this.blocks[at] = {
      frames: own,
      busy: Math.min(1, busy_s / this.span_s),
      failed: Math.min(1, failed_s / this.span_s),
    };
  }

  private merge(): void {
    const firsts = new Set<number>();
    const frames: Frame[] = [];
    let isWhole = false;
    for (const block of this.blocks) {
      if (!block) {
        isWhole = false;
        continue;
      }
      if (!isWhole && block.frames.length > 0) {
        firsts.add(frames.length);
        isWhole = true;
      }
      for (const frame of block.frames) frames.push(frame);
    }
    this.frames = frames;
    this.gaps = this.access ? gapsOf(frames, this.access, (at) => firsts.has(at)) : [];
  }

  private start_s(at: number): number {
    return this.air.from_s + at * this.span_s;
  }

  private numbers(from_s: number, to_s: number): number[] {
    const place = (time_s: number) =>
      Math.min(BLOCKS - 1, Math.max(0, Math.floor((time_s - this.air.from_s) / this.span_s)));
    const [first, last] = [place(from_s), place(to_s)];
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  }
}
