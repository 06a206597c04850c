/**
 * A worker with one engine. The worker runs one replication at a time in slices, and answers questions between two
 * slices.
 */

import { Engine, EngineError } from "./engine";
import type { Job, Order, Report } from "./messages";

declare const self: DedicatedWorkerGlobalScope;

/** Time that the engine runs between two readings of messages. [ms] */
const STRETCH_MS = 12;
/** Time between two reports of progress. [ms] */
const PROGRESS_MS = 80;
/** Limit of the engine's memory. A run above the limit is ended, before the browser closes the page. [bytes] */
const MEMORY_LIMIT_BYTES = 1.5e9;

let engine: Promise<Engine> | null = null;
/** Number of the present run, or 0 if there is none. */
let current = 0;

function say(report: Report, transfer: Transferable[] = []): void {
  self.postMessage(report, transfer);
}

/**
 * Ports through which `breathe` sends a message to this worker, in order to wait until earlier messages are processed.
 * Unlike timers, messages are not delayed by the browser.
 */
const { port1, port2 } = new MessageChannel();
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
}

/** Reports a failure to the page. After a trap, the engine's instance cannot be used. */
function fail(id: number, error: unknown): void {
  if (error instanceof EngineError) say({ report: "failed", id, message: error.message });
  else say({ report: "broken", message: error instanceof Error ? error.message : String(error) });
}

async function carryOut(own: Engine, id: number, job: Job): Promise<void> {
  const run = own.begin(job.source, job.replication);
  let told_ms = performance.now();
  while (!own.isOver(run)) {
    const until_ms = performance.now() + STRETCH_MS;
    let simulated_s = 0;
    do simulated_s = own.advance(run);
    while (!own.isOver(run) && performance.now() < until_ms);
    if (own.memoryBytes > MEMORY_LIMIT_BYTES) {
      say({ report: "broken", message: "the run needs more than 1.5 GB of memory" });
      return;
    }
    if (performance.now() - told_ms > PROGRESS_MS) {
      told_ms = performance.now();
      say({ report: "progress", id, simulated_s });
    }
    await breathe();
    if (current !== id) {
      own.end(run);
      say({ report: "cancelled", id, memory_bytes: own.memoryBytes });
      return;
    }
  }
  const values = own.values(run);
  if (!job.keep) own.end(run);
  const yielded = { values, run: job.keep ? run : 0 };
  say({ report: "over", id, yielded, memory_bytes: own.memoryBytes }, [values.buffer]);
}

self.onmessage = async ({ data }: MessageEvent<Order>) => {
  if (data.order === "open") {
    engine = WebAssembly.instantiate(data.module, {}).then((instance) => new Engine(instance));
    return;
  }
  if (data.order === "cancel") {
    if (current === data.id) current = 0;
    return;
  }
  if (data.order === "run") current = data.id;
  try {
    if (!engine) throw new Error("the worker has no engine yet");
    const own = await engine;
    if (data.order === "run") await carryOut(own, data.id, data.job);
    else {
      const ask = own[data.question] as (...about: unknown[]) => unknown;
      say({ report: "answer", id: data.id, answer: ask.apply(own, data.about) });
    }
  } catch (error) {
    fail(data.id, error);
  }
};
