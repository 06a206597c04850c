/** Quantities of time series, and the choice of lines if there are many items. */

import type { Series, Track } from "../../engine/answers";

/** Largest number of items that have lines. */
export const MAX_LINES = 12;

/** A quantity of the items of one list. */
export interface Sort {
  list: string;
  quantity: string;
}

export interface Choice extends Sort {
  key: string;
  count: number;
}

/** Choice of the items that have lines: the highest means, the lowest means, or twelve items from an index on. */
export type Pick = "most" | "least" | number;

export interface Sampled {
  name: string;
  of: "item" | "mean" | "sum";
  values: (number | null)[];
}

/** Quantities in the order of the menu. */
const ORDER = ["goodput_bps", "occupancy_packets", "cwnd_packets", "one_way_delay_s", "rtt_s", "utilisation"];

/** Returns the sampled quantities, one choice for each quantity of a list. */
export function choicesOf(series: Series): Choice[] {
  const choices = new Map<string, Choice>();
  for (const { list, quantity } of series.tracks) {
    const key = `${list}/${quantity}`;
    const choice = choices.get(key) ?? { key, list, quantity, count: 0 };
    choice.count += 1;
    choices.set(key, choice);
  }
  const place = ({ quantity }: Choice) =>
    (ORDER.indexOf(quantity) + ORDER.length + 1) % (ORDER.length + 1);
  return [...choices.values()].sort((a, b) => place(a) - place(b));
}

export function tracksOf(series: Series, choice: Sort): Track[] {
  return series.tracks.filter(
    ({ list, quantity }) => list === choice.list && quantity === choice.quantity,
  );
}

/**
 * Returns the lines of a quantity: at most twelve items, the mean of all items, and their sum if a sum is meaningful.
 */
export function sampledOf(series: Series, choice: Choice, pick: Pick, from_s: number): Sampled[] {
  const tracks = tracksOf(series, choice);
  const lines: Sampled[] = picked(series, tracks, pick, from_s).map(({ name, values }) => ({
    name,
    of: "item",
    values,
  }));
  if (tracks.length < 2) return lines;
  lines.push({ name: `mean of all ${tracks.length}`, of: "mean", values: combined(tracks, true) });
  if (isAdditive(choice.quantity)) {
    lines.push({ name: `sum of all ${tracks.length}`, of: "sum", values: combined(tracks, false) });
  }
  return lines;
}

/**
 * Returns the lines of another run that have the same names as `lines`. The time series of the other run is read at the
 * times `time_s`. The value is null at times that this time series does not include.
 */
export function resampled(
  series: Series,
  choice: Sort,
  lines: readonly Sampled[],
  time_s: readonly number[],
): Sampled[] {
  const tracks = tracksOf(series, choice);
  const others = [...tracks.map(({ name, values }) => ({ name, of: "item" as const, values }))];
  const total = (of: "mean" | "sum") => ({ of, values: combined(tracks, of === "mean") });
  const places = time_s.map((at_s) => {
    const at = Math.round(at_s / series.interval_s - (series.time_s[0] ?? 0) / series.interval_s);
    return at < series.time_s.length ? at : -1;
  });
  return lines.flatMap(({ name, of }): Sampled[] => {
    const line = of === "item" ? others.find((other) => other.name === name) : tracks.length > 1 ? total(of) : null;
    return line ? [{ name, of, values: places.map((at) => line.values[at] ?? null) }] : [];
  });
}

/** Returns running means over `count` samples. Unknown values are left out. */
export function smoothed(values: (number | null)[], count: number): (number | null)[] {
  if (count <= 1) return values;
  const sums = [0];
  const known = [0];
  values.forEach((value, k) => {
    sums.push(sums[k]! + (value ?? 0));
    known.push(known[k]! + (value === null ? 0 : 1));
  });
  const before = Math.floor((count - 1) / 2);
  return values.map((value, k) => {
    const from = Math.max(0, k - before);
    const to = Math.min(values.length, k - before + count);
    const number = known[to]! - known[from]!;
    return value === null || number === 0 ? null : (sums[to]! - sums[from]!) / number;
  });
}

/** Returns whether the sum of a quantity over items is meaningful. */
function isAdditive(quantity: string): boolean {
  return /_bps$|_packets$|^connections$/.test(quantity);
}

function picked(series: Series, tracks: Track[], pick: Pick, from_s: number): Track[] {
  if (tracks.length <= MAX_LINES) return tracks;
  if (typeof pick === "number") return tracks.slice(pick, pick + MAX_LINES);
  const first = firstAfter(series, from_s);
  const means = new Map(tracks.map((track) => [track, meanFrom(track.values, first) ?? 0]));
  const sign = pick === "most" ? -1 : 1;
  const chosen = new Set(
    [...tracks].sort((a, b) => sign * (means.get(a)! - means.get(b)!)).slice(0, MAX_LINES),
  );
  return tracks.filter((track) => chosen.has(track));
}

/** Returns the index of the first sample at or after a time, or 0 if there is none. */
export function firstAfter(series: Series, from_s: number): number {
  return Math.max(
    0,
    series.time_s.findIndex((time_s) => time_s >= from_s),
  );
}

/** Returns the mean of the known values from index `first` on. */
export function meanFrom(values: (number | null)[], first: number): number | null {
  const known = values.slice(first).filter((value) => value != null);
  return known.length ? sumOf(known) / known.length : null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Returns the sum or the mean over items at each time. Items whose values are unknown at this time are left out. */
function combined(tracks: Track[], isMean: boolean): (number | null)[] {
  const count = Math.max(0, ...tracks.map(({ values }) => values.length));
  return Array.from({ length: count }, (_, k) => {
    const known = tracks.flatMap(({ values }) => values[k] ?? []);
    return known.length ? sumOf(known) / (isMean ? known.length : 1) : null;
  });
}

/** Returns the choices of items that have lines, if there are more than twelve items. */
export function picksOf(count: number): [Pick, string][] {
  if (count <= MAX_LINES) return [];
  const pages: [Pick, string][] = [];
  for (let from = 0; from < Math.min(count, 600); from += MAX_LINES) {
    pages.push([from, `numbers ${from + 1} to ${Math.min(count, from + MAX_LINES)}`]);
  }
  return [
    ["most", `the ${MAX_LINES} with the highest means`],
    ["least", `the ${MAX_LINES} with the lowest means`],
    ...pages,
  ];
}
