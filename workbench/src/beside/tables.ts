/** What commands answer, as tables. */

import type { Answer, Estimate, Item } from "../engine/answers";
import { estimateOf, itemsOf } from "../views/answer";
import { estimate, plain } from "../views/digits";
import { type Table, tableOfList } from "../views/numbers/tables";
import { measureOf } from "../views/quantity";

/** What `compare --json` has, as far as it is shown. */
export interface Comparison {
  /** Why no model predicts it. */
  refusal: string | null;
  rows: {
    list: string;
    name: string;
    quantity: string;
    predicted: number | null;
    simulated: number | null;
    ci95: number | null;
  }[];
}

/** Likewise of `sweep --json`. */
export interface Sweep {
  points: { settings: Record<string, string>; result: Answer }[];
}

/** Likewise of `tune --json`. */
export interface Tuning {
  refusal: string | null;
  candidates: Candidate[];
  chosen: Candidate | null;
  /** What is paid for it, in words. */
  costs: string[];
}

interface Candidate {
  name: string;
  settings: Record<string, number | string>;
  simulated: Record<string, Estimate> | null;
}

/** Model and simulation side by side. */
export function tableOfComparison(comparison: Comparison): Table {
  const rows = comparison.rows.map(({ list, name, quantity, predicted, simulated, ci95 }) => {
    const { title, unit, scale } = measureOf(quantity, Math.abs(simulated ?? predicted ?? 0));
    const scaled = (value: number | null) => (value === null ? null : value * scale);
    const apart = predicted !== null && simulated ? `${((100 * (predicted - simulated)) / simulated).toFixed(1)}` : "-";
    return [
      `${list.replace(/s$/, "")} ${name}`,
      unit ? `${title} [${unit}]` : title,
      plain(scaled(predicted)),
      estimate(scaled(simulated), scaled(ci95)),
      apart,
    ];
  });
  const titles = ["of", "quantity", "predicted", "simulated"].map((title) => ({ title, unit: "" }));
  return { title: "prediction and simulation", columns: [...titles, { title: "difference", unit: "%" }], rows };
}

/** Most stations whose goodputs have a column each. */
const MOST_STATIONS = 8;

/** A row for each point. */
export function tableOfSweep(sweep: Sweep): Table {
  const items = sweep.points.map(({ settings, result }): Item => {
    const name = Object.entries(settings).map(([key, value]) => `${key}=${value}`).join(" ");
    const cell = itemsOf(result, "cells")[0] ?? itemsOf(result, "classes")[0];
    return { ...(cell ?? { goodput_bps: sumOfGoodputs(result) }), name };
  });
  const table = tableOfList("a row for each point", items);
  const stations = itemsOf(sweep.points[0]?.result, "stations").map(({ name }) => name);
  if (stations.length > MOST_STATIONS) return table;
  const more = stations.map((title) => ({ title, unit: "Mb/s" }));
  const rows = table.rows.map((row, at) => [
    ...row,
    ...stations.map((name) => {
      const station = itemsOf(sweep.points[at]?.result, "stations").find((one) => one.name === name);
      const goodput = estimateOf(station, "goodput_bps");
      return goodput?.mean == null ? "-" : estimate(goodput.mean / 1e6, goodput.ci95 && goodput.ci95 / 1e6);
    }),
  ]);
  return { ...table, columns: [...table.columns, ...more], rows };
}

function sumOfGoodputs(result: Answer): Estimate {
  const means = itemsOf(result, "flows").map((flow) => estimateOf(flow, "goodput_bps")?.mean ?? 0);
  return { mean: means.reduce((sum, one) => sum + one, 0), ci95: null };
}

/** The present setting and the chosen one. */
export function tableOfTuning(tuning: Tuning): Table {
  const present = tuning.candidates.find(({ settings }) => Object.keys(settings).length === 0);
  const shown = [present, tuning.chosen].filter((one) => one?.simulated);
  const items = shown.map((one): Item => ({ ...one?.simulated, name: one?.name ?? "" }));
  return tableOfList("as it is, and as it might be", items);
}
