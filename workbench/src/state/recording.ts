/** Settings of runs that record time series and frames. */

import type { Answer, Scenario } from "../engine/answers";
import { itemsOf, meanOf, numberOf, tablesOf } from "../views/answer";

/** Number of samples of the series of a complete run. */
const SAMPLES = 400;
/** Largest number of values of all tracks together; with many flows each track has fewer samples. */
const MOST_VALUES = 1_000_000;
/** Number of samples of the fine series that belongs to frames. */
const FINE_SAMPLES = 5000;
/** Largest number of frames that the page keeps. */
export const MOST_FRAMES = 20_000;

export function durationOf_s(scenario: Scenario): number {
  return numberOf(scenario, "duration_s") ?? 0;
}

export function warmupOf_s(scenario: Scenario): number {
  return numberOf(scenario, "warmup_s") ?? 0;
}

/** Returns the requested number of samples, or fewer if the memory limit requires it. */
function samplesOf(scenario: Scenario, wanted: number): number {
  const tracks = 4 * tablesOf(scenario, "flows").length + tablesOf(scenario, "stations").length + 1;
  return Math.max(1, Math.min(wanted, Math.floor(MOST_VALUES / tracks)));
}

/** Formats a duration for scenario files, in whole nanoseconds. */
export function inFile(duration_s: number): string {
  return `${Math.max(1, Math.round(duration_s * 1e9))} ns`;
}

/** Returns an interval for about this number of samples: 1, 2 or 5 times a power of ten. [s] */
export function roundInterval_s(duration_s: number, samples: number): number {
  const wanted_s = Math.max(duration_s / samples, 1e-6);
  const power = 10 ** Math.floor(Math.log10(wanted_s));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= wanted_s * 0.999) ?? 10;
  return factor * power;
}

/** Returns the settings of replication 0. They override recording settings of the text, which are meant for files. */
export function seriesSettings(scenario: Scenario): string[] {
  const interval_s = roundInterval_s(durationOf_s(scenario), samplesOf(scenario, SAMPLES));
  return [`record.series_interval=${inFile(interval_s)}`, "record.frames=0", "record.from=0 s"];
}

/** Returns the settings of later replications. */
export function plainSettings(): string[] {
  return ["record.series_interval=never", "record.frames=0", "record.from=0 s"];
}

/** Returns whether a scenario has frames to record: a cell with stations. */
export function hasAir(scenario: Scenario): boolean {
  return Boolean(scenario.cell) && tablesOf(scenario, "stations").length > 0;
}

/** Returns the time in which about `MOST_FRAMES` frames are sent, estimated from the goodputs of an answer. [s] */
export function stretch_s(answer: Answer): number {
  const goodputs_bps = itemsOf(answer, "flows").map((flow) => Math.max(0, meanOf(flow, "goodput_bps") ?? 0));
  const goodput_bps = goodputs_bps.reduce((sum, goodput) => sum + goodput, 0);
  // A segment of 1,460 bytes, its ACK, a MAC ACK for each of them, and a fifth more for failed attempts.
  const framesEach_s = (goodput_bps / (8 * 1460)) * 4 * 1.2;
  return MOST_FRAMES / Math.max(framesEach_s, 100);
}

/** Returns the settings of the run that records frames from an instant on. [s] */
export function airSettings(scenario: Scenario, from_s: number, long_s: number): string[] {
  const whole_s = durationOf_s(scenario);
  const end_s = Math.min(whole_s, from_s + long_s);
  const interval_s = roundInterval_s(end_s - from_s, samplesOf(scenario, FINE_SAMPLES));
  const settings = [
    `record.frames=${MOST_FRAMES}`,
    `record.from=${inFile(from_s)}`,
    `record.series_interval=${inFile(interval_s)}`,
  ];
  if (end_s < whole_s) {
    settings.push(`duration=${inFile(end_s)}`);
    // This run measures nothing, but a warm-up has to be shorter than the run.
    if (warmupOf_s(scenario) >= end_s) settings.push(`warmup=${inFile(end_s / 2)}`);
  }
  return settings;
}
