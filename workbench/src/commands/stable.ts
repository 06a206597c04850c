/** Stability chart: stability of the equilibrium as a function of two parameters. */

import { short } from "../views/digits";
import type { Table } from "../views/numbers/tables";

interface Axis {
  parameter: string;
  values: number[];
}

/** Output of `lasthop stability chart --json`. */
export interface Chart {
  parameters: Record<string, unknown>;
  x: Axis;
  y: Axis;
  /** Real part of the rightmost root. Each value of y has one row; null means that there is no equilibrium. [1/s] */
  rightmost_root_real: (number | null)[][];
  hopf_curves: { x: number[]; y: number[]; boundary: boolean[] }[];
}

export type Sort = "stable" | "unstable" | "none";

export function sortOf(root: number | null | undefined): Sort {
  return root == null ? "none" : root < 0 ? "stable" : "unstable";
}

/**
 * Returns the position of a value among the `values` of an axis, as a fractional index from 0. For example, 1.5 is
 * halfway between the second and the third value. Returns null for a value outside the axis.
 */
export function placeOf(value: number, values: readonly number[]): number | null {
  const above = values.findIndex((each) => each >= value * (1 - 1e-12));
  const high = values[above];
  const low = values[above - 1];
  if (high === undefined) return null;
  if (low === undefined) return high > value * (1 + 1e-9) ? null : 0;
  return above - 1 + (value - low) / (high - low);
}

/** Returns the curves that bound the stable region, as pairs of fractional indices on the two axes. */
export function boundariesOf({ x, y, hopf_curves }: Chart): [number, number][][] {
  return hopf_curves.flatMap((curve) => {
    const stretches: [number, number][][] = [[]];
    curve.x.forEach((value, at) => {
      const across = placeOf(value, x.values);
      const up = placeOf(curve.y[at] ?? Number.NaN, y.values);
      if (curve.boundary[at] && across !== null && up !== null) stretches.at(-1)?.push([across, up]);
      else stretches.push([]);
    });
    return stretches.filter(({ length }) => length > 1);
  });
}

/** Returns the position of the present parameters as fractional indices, or null outside the chart. */
export function presentOf({ parameters, x, y }: Chart): { across: number; up: number } | null {
  const [mine, yours] = [parameters[x.parameter], parameters[y.parameter]];
  if (typeof mine !== "number" || typeof yours !== "number") return null;
  const [across, up] = [placeOf(mine, x.values), placeOf(yours, y.values)];
  return across === null || up === null ? null : { across, up };
}

const TIMES = new Set(["rtt", "update"]);

/** Returns a parameter value with its unit. */
export function written(parameter: string, value: number): string {
  return TIMES.has(parameter) ? `${short(value * 1e3)} ms` : short(value);
}

/** Returns a range around a value in the format of the command line, or an empty text if the value is not positive. */
export function rangeAround(parameter: string, value: unknown): string {
  if (typeof value !== "number" || !(value > 0)) return "";
  const isTime = TIMES.has(parameter);
  // Parameters that are fractions stay below 1.
  const factor = isTime || value > 1 || value < 0.25 ? 4 : 1.3;
  const ends = [value / factor, value * factor].map((end) => Number((isTime ? end * 1e3 : end).toPrecision(3)));
  return ends.join(isTime ? "ms.." : "..") + (isTime ? "ms" : "");
}

/** Returns the parameters that can be varied, which are the positive numbers. */
export function parametersOf(parameters: unknown): string[] {
  const known = typeof parameters === "object" && parameters !== null ? parameters : {};
  return Object.entries(known).flatMap(([name, value]) => (typeof value === "number" && value > 0 ? [name] : []));
}

export function tableOf(chart: Chart): Table {
  const { x, y } = chart;
  return {
    title: `Stable points over ${x.parameter} from ${written(x.parameter, x.values[0] ?? 0)} to ${written(x.parameter, x.values.at(-1) ?? 0)}`,
    columns: [y.parameter, "stable", "not stable", "no equilibrium"].map((title) => ({ title, unit: "" })),
    rows: chart.rightmost_root_real
      .map((roots, row) => {
        const count = (sort: Sort) => String(roots.filter((root) => sortOf(root) === sort).length);
        return [written(y.parameter, y.values[row] ?? 0), count("stable"), count("unstable"), count("none")];
      })
      .reverse(),
  };
}

/** Returns a sentence that describes the chart. */
export function sentence(chart: Chart): string {
  const sorts = chart.rightmost_root_real.flat().map(sortOf);
  const stable = sorts.filter((sort) => sort === "stable").length;
  const here = presentOf(chart);
  const root = here && chart.rightmost_root_real[Math.round(here.up)]?.[Math.round(here.across)];
  const point = root == null ? "" : ` The point nearest to the present setting is ${root < 0 ? "stable" : "not stable"}.`;
  return `${stable} of ${sorts.length} points are stable.${point}`;
}
