/** State of the workbench: scenario text, checked scenario, and run. */

import type { Answer, Distribution, Explanation, Problem, Scenario, Series } from "../engine/answers";
import type { Source } from "../engine/engine";
import { Broken, Cancelled, type Pool } from "../engine/pool";
import { type Written, withTable } from "../scenario/edit";
import { changesBetween } from "../scenario/changes";
import { Schema } from "../scenario/schema";
import { keyOf, settled } from "../scenario/settled";
import { editedTable, withGroup } from "../scenario/shorthand";
import type { Air, KeptRun } from "../views/shown";
import { recordAir, type Recording } from "./air";
import { experiment, type Progress } from "./experiment";
import { Past } from "./past";
import { hasAir, warmupOf_s } from "./recording";

/** Time after the last key press before the text is checked. [ms] */
const DEBOUNCE_MS = 200;
/** Estimated remaining wall-clock time above which a run counts as long. [s] */
const LONG_S = 120;

/** Data that the page shows about a run of a scenario. */
interface Result {
  source: Source;
  scenario: Scenario;
  answer: Answer | null;
  /** Result object as text. */
  text: string;
  explanation: Explanation | null;
  done: number;
  replications: number;
  series: Series | null;
  distributions: Distribution[] | null;
  air: Air | null;
}

export class Workbench {
  text = $state("");
  settings = $state.raw<string[]>([]);
  problems = $state.raw<Problem[]>([]);
  /** Normalised scenario of the last text without problems. */
  scenario = $state.raw<Scenario | null>(null);
  result = $state.raw<Result | null>(null);
  progress = $state.raw<Progress | null>(null);
  /** Estimated wall-clock time until the run finishes, or null if unknown. [s] */
  left_s = $state.raw<number | null>(null);
  /** Message about a failure, or null. */
  trouble = $state<string | null>(null);
  stopped = $state(false);
  /** Wall-clock duration of the last run. [s] */
  took_s = $state.raw<number | null>(null);
  schema = $state.raw<Schema | null>(null);
  /** Number of edits that the button Back can undo. */
  edits = $state(0);
  #kept = $state.raw<Result | null>(null);

  readonly #past = new Past();
  readonly #pool: Promise<Pool>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of edits so far. Results of checks of older texts are ignored. */
  #edit = 0;
  #run: AbortController | null = null;
  #recording: Recording | null = null;

  constructor(pool: Promise<Pool>) {
    this.#pool = pool;
    import("virtual:schema").then(({ default: root }) => (this.schema = new Schema(root))).catch((error: unknown) => this.#tell(error));
  }

  /** Whether the shown results belong to a text other than the present text. */
  get isStale(): boolean {
    return this.result !== null && (this.problems.length > 0 || this.result.scenario !== this.scenario);
  }

  get source(): Source {
    return { text: this.text, settings: this.settings };
  }

  /** Run that was kept for comparison, and the edits made since that run; null if no run is kept. */
  get keptRun(): KeptRun | null {
    const [run, shown] = [this.#kept, this.result];
    if (!run?.answer || !shown) return null;
    const { answer, explanation, series, distributions } = run;
    return { changes: changesBetween(run.source, shown.source), answer, explanation, series, distributions };
  }

  /** Keeps the shown run for comparison, or drops the kept run. */
  keep(isKept: boolean): void {
    this.#kept = isKept ? this.result : null;
  }

  get isLong(): boolean {
    return this.left_s !== null && this.left_s > LONG_S;
  }

  /** Sets the text, and checks it after a pause or immediately. */
  write(text: string, settings: string[] = this.settings, now = false): void {
    const isSame = text === this.text && settings === this.settings;
    if (isSame && !now) return;
    if (!isSame) this.#past.leave(this.source, !now, performance.now());
    this.#take(text, settings, now);
  }

  /** Restores the text before the last edit. */
  back(): void {
    const before = this.#past.back();
    if (before) this.#take(before.text, [...before.settings], true);
  }

  #take(text: string, settings: string[], now: boolean): void {
    this.edits = this.#past.length;
    this.text = text;
    this.settings = settings;
    clearTimeout(this.#timer);
    this.#edit += 1;
    if (now) void this.#read();
    else this.#timer = setTimeout(() => void this.#read(), DEBOUNCE_MS);
  }

  /** Changes one value in the text, and removes an override of this value. Returns false if this is not possible. */
  edit(path: readonly string[], value: Written): boolean {
    const { text, over } = this.#settledFor(path);
    return this.#put(editedTable(text, path, value), over.filter((setting) => keyOf(setting) !== path.join(".")));
  }

  /** Adds a table with keys, such as a group of downloads of a station. Returns false if this is not possible. */
  begin(path: readonly string[], keys: Readonly<Record<string, string>>): boolean {
    const { text, over } = this.#settledFor(path);
    return this.#put(path.length > 3 ? withGroup(text, path, keys) : withTable(text, path, keys), over);
  }

  /** Returns the text with the overrides of the tables that contain a key, and the other overrides. */
  #settledFor(path: readonly string[]): { text: string; over: string[] } {
    const key = path.join(".");
    const above = this.settings.filter((setting) => key.startsWith(`${keyOf(setting)}.`));
    return above.length ? settled(this.text, above, this.settings.filter((setting) => !above.includes(setting))) : { text: this.text, over: this.settings };
  }

  #put(text: string | null, over: string[]): boolean {
    if (text !== null) this.write(text, over.length < this.settings.length ? over : this.settings);
    return text !== null;
  }

  /** Stops the run. The results of its finished replications stay visible. */
  stop(): void {
    if (!this.#run) return;
    this.stopped = true;
    this.#run.abort();
  }

  again(): void {
    this.write(this.text, this.settings, true);
  }

  async #read(): Promise<void> {
    const edit = this.#edit;
    const source = this.source;
    try {
      const pool = await this.#pool;
      const { scenario, problems } = await pool.check(source);
      if (edit !== this.#edit) return;
      this.problems = problems ?? [];
      if (!scenario) {
        this.#cancel();
        return;
      }
      this.scenario = scenario;
      await this.#simulate(pool, source, scenario);
    } catch (error) {
      if (edit === this.#edit) this.#tell(error);
    }
  }

  #cancel(): void {
    this.#run?.abort();
    this.#run = null;
    this.progress = null;
    this.left_s = null;
  }

  async #simulate(pool: Pool, source: Source, scenario: Scenario): Promise<void> {
    this.#cancel();
    this.#recording?.rest();
    const run = new AbortController();
    this.#run = run;
    this.stopped = false;
    this.trouble = null;
    const began_ms = performance.now();
    const fresh: Result = {
      source,
      scenario,
      answer: null,
      text: "",
      explanation: null,
      done: 0,
      replications: scenario.replications as number,
      series: null,
      distributions: null,
      air: null,
    };
    let recorded: Pick<Result, "series" | "distributions"> = { series: null, distributions: null };
    const isOurs = () => this.#run === run;
    try {
      await experiment(pool, source, scenario, run.signal, {
        progress: (progress) => {
          if (!isOurs()) return;
          this.progress = progress;
          const past_s = (performance.now() - began_ms) / 1e3;
          const { fraction } = progress;
          this.left_s = past_s > 0.5 && fraction > 0 ? (past_s * (1 - fraction)) / fraction : null;
        },
        recorded: (series, distributions) => (recorded = { series, distributions }),
        answered: (answer, done, text, explanation) => {
          if (!isOurs()) return;
          const isFirst = this.result?.scenario !== scenario;
          if (isFirst) this.#recording?.stop();
          const air = isFirst ? null : (this.result?.air ?? null);
          this.result = { ...fresh, ...recorded, answer, text, explanation, done, air };
          if (isFirst && hasAir(scenario)) this.#listen(pool, source, scenario, answer);
        },
      });
      if (isOurs()) this.took_s = (performance.now() - began_ms) / 1e3;
    } catch (error) {
      if (isOurs() && !(error instanceof Cancelled)) this.#tell(error);
    }
    if (isOurs()) {
      this.#run = null;
      this.progress = null;
      this.left_s = null;
    }
  }

  /** Starts the recording of frames after the first result of a scenario. */
  #listen(pool: Pool, source: Source, scenario: Scenario, answer: Answer): void {
    const isShown = () => this.result?.scenario === scenario;
    this.#recording = recordAir(pool, source, scenario, answer, warmupOf_s(scenario), {
      ready: (air) => {
        if (isShown() && this.result) this.result = { ...this.result, air };
      },
      failed: (error) => {
        if (!isShown()) return;
        this.trouble = `The frames could not be recorded: ${messageOf(error)}.`;
      },
    });
  }

  #tell(error: unknown): void {
    this.trouble =
      error instanceof Broken
        ? `The engine failed (${error.message}) and has been restarted. Change the scenario or run it again.`
        : messageOf(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
