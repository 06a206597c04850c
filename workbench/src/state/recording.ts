/** Settings for the recording of time series and frames. */

import type { Answer, Scenario } from "../engine/answers";
import { itemsOf, meanOf, numberOf, tablesOf } from "../views/answer";

/** Number of samples of a time series over a complete run. */
const SAMPLES = 400;
/** Largest number of samples of all time series in total. With many flows, each time series has fewer samples. */
const MAX_VALUES = 1_000_000;
/** Number of samples of the time series of queue lengths in a recording of frames. */
const FINE_SAMPLES = 5000;
/** Largest number of frames in a recording. */
export const MAX_FRAMES = 20_000;

export function durationOf_s(scenario: Scenario): number {
  return numberOf(scenario, "duration_s") ?? 0;
}

export function warmupOf_s(scenario: Scenario): number {
  return numberOf(scenario, "warmup_s") ?? 0;
}

/** Returns the requested number of samples, or fewer samples to obey the memory limit. */
function samplesOf(scenario: Scenario, wanted: number): number {
  const tracks = 4 * tablesOf(scenario, "flows").length + tablesOf(scenario, "stations").length + 1;
  return Math.max(1, Math.min(wanted, Math.floor(MAX_VALUES / tracks)));
}

/** Formats a duration for a scenario file, in whole nanoseconds. */
export function inFile(duration_s: number): string {
  return `${Math.max(1, Math.round(duration_s * 1e9))} ns`;
}

/** Returns a sampling interval for about this number of samples: 1, 2 or 5 times a power of ten. [s] */
export function roundInterval_s(duration_s: number, samples: number): number {
  const wanted_s = Math.max(duration_s / samples, 1e-6);
  const power = 10 ** Math.floor(Math.log10(wanted_s));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= wanted_s * 0.999) ?? 10;
  return factor * power;
}

/**
 * Returns overrides of settings (`key=value`) for the first replication, which records time series for the page. The
 * overrides replace the `record` settings of the scenario text, because these settings are meant for runs that write
 * files.
 */
export function seriesSettings(scenario: Scenario): string[] {
  const interval_s = roundInterval_s(durationOf_s(scenario), samplesOf(scenario, SAMPLES));
  return [`record.series_interval=${inFile(interval_s)}`, "record.frames=0", "record.from=0 s"];
}

/** Returns the overrides for the other replications, which record nothing. */
export function plainSettings(): string[] {
  return ["record.series_interval=never", "record.frames=0", "record.from=0 s"];
}

/** Returns whether a scenario has a cell with stations, so that frames can be recorded. */
export function hasAir(scenario: Scenario): boolean {
  return Boolean(scenario.cell) && tablesOf(scenario, "stations").length > 0;
}

/** Returns the time in which about `MAX_FRAMES` frames are sent, estimated from the goodputs of a result. [s] */
export function stretch_s(answer: Answer): number {
  const goodputs_bps = itemsOf(answer, "flows").map((flow) => Math.max(0, meanOf(flow, "goodput_bps") ?? 0));
  const goodput_bps = goodputs_bps.reduce((sum, goodput) => sum + goodput, 0);
  // Assumed per packet: a segment of 1,460 bytes, its TCP ACK, a MAC ACK for each of the two, and 20 % more for failed
  // attempts.
  const framesEach_s = (goodput_bps / (8 * 1460)) * 4 * 1.2;
  return MAX_FRAMES / Math.max(framesEach_s, 100);
}

/** Returns the overrides for a run that records frames from a time on. [s] */
export function airSettings(scenario: Scenario, from_s: number, long_s: number): string[] {
  const whole_s = durationOf_s(scenario);
  const end_s = Math.min(whole_s, from_s + long_s);
  const interval_s = roundInterval_s(end_s - from_s, samplesOf(scenario, FINE_SAMPLES));
  const settings = [
    `record.frames=${MAX_FRAMES}`,
    `record.from=${inFile(from_s)}`,
    `record.series_interval=${inFile(interval_s)}`,
  ];
  if (end_s < whole_s) {
    settings.push(`duration=${inFile(end_s)}`);
    // The warm-up must be shorter than the run, although this run measures nothing.
    if (warmupOf_s(scenario) >= end_s) settings.push(`warmup=${inFile(end_s / 2)}`);
  }
  return settings;
}
