/** Pool of workers, each with its own engine, that run replications. */

import type { Source } from "./engine";
import type { Job, Order, Questions, Report, Yielded } from "./messages";

const MAX_WORKERS = 8;
/**
 * Size of an engine's memory above which its worker is replaced when it has no run. The memory of an engine never
 * shrinks. [bytes]
 */
const STALE_BYTES = 256e6;

/** Error of a cancelled run. */
export class Cancelled extends Error {
  override name = "Cancelled";
}

/** Error of a run whose engine failed. The worker is replaced. */
export class Broken extends Error {
  override name = "Broken";
}

type Answered<Q extends keyof Questions> = Promise<ReturnType<Questions[Q]>>;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress?: (simulated_s: number) => void;
}

/** A worker, and its questions that are not answered yet. */
class Hand {
  readonly #pending = new Map<number, Pending>();
  #worker: Worker;
  #last = 0;
  /** Whether the worker is running a replication. */
  busy = false;
  /** Number of finished runs that the worker keeps. */
  keptRuns = 0;
  memory_bytes = 0;

  constructor(readonly module: WebAssembly.Module) {
    this.#worker = this.#open();
  }

  #open(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Report>) => this.#hear(data);
    worker.onerror = (event) => this.#replace(event.message || "the worker did not start");
    worker.postMessage({ order: "open", module: this.module } satisfies Order);
    return worker;
  }

  #hear(report: Report): void {
    if (report.report === "broken") return this.#replace(report.message);
    const pending = this.#pending.get(report.id);
    if (report.report === "progress") return pending?.progress?.(report.simulated_s);
    this.#pending.delete(report.id);
    if ("memory_bytes" in report) this.memory_bytes = report.memory_bytes;
    if (report.report === "over") pending?.resolve(report.yielded);
    else if (report.report === "answer") pending?.resolve(report.answer);
    else if (report.report === "cancelled") pending?.reject(new Cancelled("cancelled"));
    else pending?.reject(new Error(report.message));
  }

  #replace(message: string): void {
    const owed = [...this.#pending.values()];
    this.renew();
    for (const pending of owed) pending.reject(new Broken(message));
  }

  /** Replaces the worker with a new one. */
  renew(): void {
    this.close();
    this.#pending.clear();
    this.keptRuns = 0;
    this.memory_bytes = 0;
    this.#worker = this.#open();
  }

  close(): void {
    this.#worker.terminate();
  }

  ask<T>(order: (id: number) => Order, progress?: Pending["progress"], signal?: AbortSignal): Promise<T> {
    const id = ++this.#last;
    const worker = this.#worker;
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { resolve: resolve as Pending["resolve"], reject };
      if (progress) pending.progress = progress;
      this.#pending.set(id, pending);
      worker.postMessage(order(id));
      const cancel = () => worker.postMessage({ order: "cancel", id } satisfies Order);
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  question<Q extends keyof Questions>(
    question: Q,
    ...about: Parameters<Questions[Q]>
  ): Answered<Q> {
    return this.ask((id) => ({ order: "ask", id, question, about }));
  }
}

/** A finished run that its worker keeps until `end` is called. */
export class RunHandle {
  #hand: Hand | null;
  readonly #run: number;

  constructor(hand: Hand, run: number) {
    this.#hand = hand;
    this.#run = run;
    hand.keptRuns += 1;
  }

  ask<Q extends Exclude<keyof Questions, "check" | "end">>(
    question: Q,
    ...about: Parameters<Questions[Q]> extends [number, ...infer Rest] ? Rest : never
  ): Answered<Q> {
    if (!this.#hand) return Promise.reject(new Cancelled("the run is no longer kept"));
    const all = [this.#run, ...about] as unknown as Parameters<Questions[Q]>;
    return this.#hand.question(question, ...all);
  }

  end(): void {
    const hand = this.#hand;
    if (!hand) return;
    this.#hand = null;
    hand.keptRuns = Math.max(0, hand.keptRuns - 1);
    hand.question("end", this.#run).catch(() => undefined);
  }
}

/** Results of a replication, and its run if the run is kept. */
export interface Finished {
  values: Float64Array;
  handle: RunHandle | null;
}

interface Waiting {
  job: Job;
  signal: AbortSignal;
  progress: (simulated_s: number) => void;
  start(hand: Hand): void;
  reject(error: Error): void;
}

/** Pool that assigns replications to workers in the order of the requests. */
export class Pool {
  readonly #hands: Hand[];
  readonly #waiting: Waiting[] = [];

  constructor(module: WebAssembly.Module, workers = navigator.hardwareConcurrency) {
    const count = Math.max(1, Math.min(MAX_WORKERS, workers || 1));
    this.#hands = Array.from({ length: count }, () => new Hand(module));
  }

  get size(): number {
    return this.#hands.length;
  }

  check(source: Source): Answered<"check"> {
    return this.#leastBusy().question("check", source);
  }

  /** Runs a replication as soon as a worker is idle. */
  run(job: Job, signal: AbortSignal, progress: (simulated_s: number) => void): Promise<Finished> {
    return new Promise((resolve, reject) => {
      const start = (hand: Hand) => {
        hand.busy = true;
        hand
          .ask<Yielded>((id) => ({ order: "run", id, job }), progress, signal)
          .then(
            ({ values, run }) => resolve({ values, handle: run ? new RunHandle(hand, run) : null }),
            reject,
          )
          .finally(() => this.#rest(hand));
      };
      this.#waiting.push({ job, signal, progress, start, reject });
      signal.addEventListener("abort", () => this.#forget(signal), { once: true });
      this.#deal();
    });
  }

  close(): void {
    for (const hand of this.#hands) hand.close();
  }

  #leastBusy(): Hand {
    return (this.#hands.find((hand) => !hand.busy) ?? this.#hands[0]) as Hand;
  }

  #rest(hand: Hand): void {
    hand.busy = false;
    if (hand.memory_bytes > STALE_BYTES && hand.keptRuns === 0) hand.renew();
    this.#deal();
  }

  #deal(): void {
    while (this.#waiting.length) {
      const free = this.#hands.find((hand) => !hand.busy);
      if (!free) return;
      const next = this.#waiting.shift();
      if (next?.signal.aborted) next.reject(new Cancelled("cancelled"));
      else next?.start(free);
    }
  }

  #forget(signal: AbortSignal): void {
    const cancelled = this.#waiting.filter((waiting) => waiting.signal === signal);
    for (const waiting of cancelled) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.reject(new Cancelled("cancelled"));
    }
  }
}
