/** Result of a sweep: a quantity as a function of the tried values. */

import type { Answer, Estimate } from "../engine/answers";
import { quantityOf } from "../scenario/quantity";
import { estimateOf, itemsOf, listsOf } from "../views/answer";
import { estimate, plain } from "../views/digits";
import type { Table } from "../views/numbers/tables";
import { axisLabel, type Measure, measureOf } from "../views/quantity";

/** Output of `lasthop sweep --json`. */
export interface Sweep {
  points: { settings: Record<string, string>; result: Answer }[];
}

export interface Choice {
  /** Key of the quantity: `list.quantity`. */
  key: string;
  list: string;
  quantity: string;
  label: string;
}

/** Values of one quantity of one item at all points of the sweep, in the displayed unit. */
export interface Course {
  name: string;
  values: (Estimate | null)[];
}


/** Returns the quantities of a sweep from which the user can choose. */
export function choicesOf({ points }: Sweep): Choice[] {
  const choices = new Map<string, Choice>();
  for (const { result } of points) {
    for (const [list, items] of listsOf(result)) {
      for (const item of items) {
        for (const quantity of Object.keys(item)) {
          const key = `${list}.${quantity}`;
          if (choices.has(key) || !estimateOf(item, quantity)) continue;
          choices.set(key, { key, list, quantity, label: `${list}: ${measureOf(quantity).title}` });
        }
      }
    }
  }
  return [...choices.values()];
}

/** Largest number of flows or stations in the chart. */
export const MOST = 12;

/** Returns the quantity that is shown first: goodput, or the queue length if there are many flows and no stations. */
export function firstOf(choices: readonly Choice[], { points }: Sweep): Choice | undefined {
  const areMany = points.some(({ result }) => !result.stations && itemsOf(result, "flows").length > MOST);
  const waiting = choices.find(({ key }) => key === "queues.occupancy_packets");
  if (areMany && waiting) return waiting;
  const goodputs = choices.filter(({ quantity }) => quantity === "goodput_bps");
  return goodputs.find(({ list }) => list === "stations") ?? goodputs[0] ?? choices[0];
}

/** Returns the labels of the points, which are their settings. */
export function labelsOf({ points }: Sweep): string[] {
  return points.map(({ settings }) => Object.values(settings).join(", "));
}

/**
 * Returns the horizontal positions of the points of a sweep. If the tried values are increasing numbers with one unit,
 * the positions are these values. For all other values, the points have equal distances.
 */
export function placesOf(labels: readonly string[]): { at: number[]; unit: string; isLog: boolean; areNumbers: boolean } {
  const quantities = labels.map((label) => quantityOf(label) ?? { number: label, unit: "" });
  const [unit = ""] = quantities.map((quantity) => quantity.unit);
  const at = quantities.map(({ number }) => Number(number || Number.NaN));
  const [first = 0] = at;
  const areNumbers = quantities.every((quantity) => quantity.unit === unit) && at.every((value, k) => (k ? value > (at[k - 1] as number) : !Number.isNaN(value)));
  if (!areNumbers) return { at: labels.map((_, k) => k), unit: "", isLog: false, areNumbers };
  return { at, unit, isLog: first > 0 && (at.at(-1) ?? 0) > 10 * first, areNumbers };
}

export function coursesOf({ points }: Sweep, { list, quantity }: Choice): { measure: Measure; courses: Course[] } {
  const names = new Set(points.flatMap(({ result }) => itemsOf(result, list).map(({ name }) => name)));
  const measured = [...names].map((name) => ({
    name,
    values: points.map(({ result }) => estimateOf(itemsOf(result, list).find((item) => item.name === name), quantity)),
  }));
  const means = measured.flatMap(({ values }) => values.map((each) => each?.mean ?? 0));
  const measure = measureOf(quantity, Math.max(0, ...means));
  const scaled = (each: number | null) => (each === null ? null : each * measure.scale);
  const courses = measured
    .filter(({ values }) => values.some(Boolean))
    .map(({ name, values }) => ({
      name,
      values: values.map((each) => each && { mean: scaled(each.mean), ci95: scaled(each.ci95) }),
    }));
  return { measure, courses };
}

/** Returns the range of the vertical axis. The range includes all means, but may cut long confidence intervals. */
export function limitsOf(courses: readonly Course[]): [number, number] {
  const all = courses.flatMap(({ values }) => values.map((each) => [each?.mean ?? 0, each?.ci95 ?? 0] as const));
  const most = Math.max(0, ...all.map(([mean, half]) => mean + Math.min(half, mean)));
  return [Math.min(0, ...all.map(([mean]) => mean)), 1.05 * most || 1];
}

/** Returns a sentence that describes the chart. */
export function sentence({ label }: Choice, courses: readonly Course[], labels: readonly string[]): string {
  const ends = courses.map(({ name, values }) => `${name} from ${plain(values[0]?.mean)} to ${plain(values.at(-1)?.mean)}`);
  return `${label} at the values ${labels[0]} to ${labels.at(-1)}: ${ends.join(", ")}.`;
}

export function tableOf(sweep: Sweep, choice: Choice): Table {
  const { measure, courses } = coursesOf(sweep, choice);
  const labels = labelsOf(sweep);
  return {
    title: `${choice.list}: ${axisLabel(measure)}`,
    columns: [Object.keys(sweep.points[0]?.settings ?? {}).join(", "), ...courses.map(({ name }) => name)].map((title) => ({ title, unit: "" })),
    rows: labels.map((label, at) => [label, ...courses.map(({ values }) => estimate(values[at]?.mean, values[at]?.ci95))]),
  };
}
