/** Cumulative distributions and quantiles of histograms. */

import type { Distribution } from "../../engine/answers";

/** Edges and counts of one histogram, or of several merged histograms. */
export interface Histogram {
  name: string;
  edges_s: number[];
  counts: number[];
  total: number;
}

export function histogramOf({ name, edges_s, counts }: Distribution): Histogram {
  return { name, edges_s, counts, total: counts.reduce((sum, count) => sum + count, 0) };
}

/** Merges histograms with different edges. In each bucket, values are assumed to be distributed uniformly. */
export function merged(name: string, parts: readonly Histogram[]): Histogram {
  const edges_s = unionOf(parts);
  const counts = new Array<number>(Math.max(0, edges_s.length - 1)).fill(0);
  for (const part of parts) {
    const below = edges_s.map((edge_s) => part.total * partBelow(part, edge_s));
    counts.forEach((count, at) => (counts[at] = count + below[at + 1]! - below[at]!));
  }
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  return { name, edges_s, counts, total };
}

export function unionOf(parts: readonly Histogram[]): number[] {
  return [...new Set(parts.flatMap(({ edges_s }) => edges_s))].sort((a, b) => a - b);
}

/** Returns the fraction of the values below `value_s`, interpolated within a bucket. [-] */
export function partBelow({ edges_s, counts, total }: Histogram, value_s: number): number {
  if (total === 0) return 0;
  let below = 0;
  for (let at = 0; at < counts.length; at += 1) {
    const [low, high] = [edges_s[at]!, edges_s[at + 1]!];
    if (value_s >= high) {
      below += counts[at]!;
      continue;
    }
    if (value_s > low) below += (counts[at]! * (value_s - low)) / (high - low);
    break;
  }
  return below / total;
}

/** Returns the quantile at the fraction `part`, or null without values. [s] */
export function quantile_s({ edges_s, counts, total }: Histogram, part: number): number | null {
  if (total === 0) return null;
  const rank = part * total;
  let below = 0;
  for (let at = 0; at < counts.length; at += 1) {
    const count = counts[at]!;
    if (count > 0 && below + count >= rank - 1e-9 * total) {
      const [low, high] = [edges_s[at]!, edges_s[at + 1]!];
      return low + ((high - low) * Math.max(0, rank - below)) / count;
    }
    below += count;
  }
  return edges_s.at(-1) ?? null;
}

/** Returns the smallest and the largest value of all histograms, as the limits of an axis. [s] */
export function extent_s(parts: readonly Histogram[]): [number, number] {
  const known = parts.filter(({ total }) => total > 0);
  const low = Math.min(...known.map((part) => quantile_s(part, 0)!));
  const high = Math.max(...known.map((part) => quantile_s(part, 1)!));
  return [low, high];
}

/** Returns a density: the fraction of the values in each step. The `count` steps have equal lengths on a log scale. */
export function densityOf(
  part: Histogram,
  [low_s, high_s]: [number, number],
  count: number,
): { edges_s: number[]; parts: number[] } {
  const from = Math.max(low_s, high_s / 1e6, 1e-9);
  const edges_s = Array.from(
    { length: count + 1 },
    (_, k) => from * (high_s / from) ** (k / count),
  );
  const below = edges_s.map((edge_s) => partBelow(part, edge_s));
  below[count] = 1;
  return { edges_s, parts: edges_s.slice(1).map((_, k) => below[k + 1]! - below[k]!) };
}
