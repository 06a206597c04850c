/** Recording of the frames on the air in a time interval. For this, the first replication is simulated again. */

import type { Answer, Scenario } from "../engine/answers";
import type { Source } from "../engine/engine";
import { Broken, Cancelled, type RunHandle, type Pool } from "../engine/pool";
import type { Air } from "../views/shown";
import { laidOver } from "./experiment";
import { airSettings, durationOf_s, stretch_s } from "./recording";

interface Listener {
  ready(air: Air): void;
  failed(error: unknown): void;
}

/** A recording that is in progress or finished. */
export interface Recording {
  /** Cancels the recording if it is in progress. A finished recording stays available. */
  rest(): void;
  /** Cancels the recording if it is in progress, or releases its memory if it is finished. */
  stop(): void;
}

/** Records frames that begin at `from_s` or later. If a view requests another time, a new recording starts there. */
export function recordAir(
  pool: Pool,
  source: Source,
  scenario: Scenario,
  answer: Answer,
  from_s: number,
  listener: Listener,
): Recording {
  let run: AbortController | null = null;
  let recorded: RunHandle | null = null;
  const long_s = stretch_s(answer);

  const record = async (wanted_s: number) => {
    run?.abort();
    const own = new AbortController();
    run = own;
    const latest_s = Math.max(0, durationOf_s(scenario) - Math.min(long_s, 1));
    const start_s = Math.min(Math.max(0, Number.isFinite(wanted_s) ? wanted_s : 0), latest_s);
    try {
      const run = (end_s: number) => {
        const settings = airSettings(scenario, start_s, end_s - start_s);
        const job = { source: laidOver(source, settings), replication: 0, keep: true };
        return pool.run(job, own.signal, () => undefined);
      };
      // A scenario with later events, such as a change of the channel, cannot have a shorter duration.
      const finished = await run(start_s + long_s).catch((error: unknown) => {
        if (error instanceof Cancelled || error instanceof Broken) throw error;
        return run(Infinity);
      });
      if (own.signal.aborted || !finished.handle) return finished.handle?.end();
      const fresh = finished.handle;
      recorded?.end();
      recorded = fresh;
      const end_s = (await fresh.ask("lastFrameEnd")) ?? start_s;
      const queues = await fresh.ask("queues", start_s, end_s);
      if (own.signal.aborted) return;
      listener.ready({
        from_s: start_s,
        to_s: end_s,
        frames: (begin_s, end_s) => fresh.ask("frames", begin_s, end_s),
        queues,
        record: (again_s) => void record(again_s),
      });
    } catch (error) {
      if (!(error instanceof Cancelled) && !own.signal.aborted) listener.failed(error);
    }
  };

  void record(from_s);
  return {
    rest: () => run?.abort(),
    stop() {
      run?.abort();
      recorded?.end();
      recorded = null;
    },
  };
}
