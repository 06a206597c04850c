/** What a sweep has answered: a quantity over the values that were tried. */

import type { Answer, Estimate } from "../engine/answers";
import { estimateOf, itemsOf, listsOf } from "../views/answer";
import { estimate, plain } from "../views/digits";
import type { Table } from "../views/numbers/tables";
import { axisLabel, type Measure, measureOf } from "../views/quantity";

/** What `lasthop sweep --json` prints. */
export interface Sweep {
  points: { settings: Record<string, string>; result: Answer }[];
}

export interface Choice {
  /** `list.quantity`. */
  key: string;
  list: string;
  quantity: string;
  label: string;
}

/** A quantity of one item at each point, in the unit that is shown. */
export interface Course {
  name: string;
  values: (Estimate | null)[];
}

const FIRST = ["stations.goodput_bps", "classes.goodput_bps", "flows.goodput_bps"];

/** Quantities that there are. */
export function choicesOf({ points }: Sweep): Choice[] {
  const found = new Map<string, Choice>();
  for (const { result } of points) {
    for (const [list, items] of listsOf(result)) {
      for (const item of items) {
        for (const quantity of Object.keys(item)) {
          const key = `${list}.${quantity}`;
          if (found.has(key) || !estimateOf(item, quantity)) continue;
          found.set(key, { key, list, quantity, label: `${list}: ${measureOf(quantity).title}` });
        }
      }
    }
  }
  return [...found.values()];
}

/** The quantity that is shown where nobody has chosen. */
export function firstOf(choices: readonly Choice[]): Choice | undefined {
  return FIRST.map((key) => choices.find((each) => each.key === key)).find(Boolean) ?? choices[0];
}

/** Words of a point: what was set. */
export function labelsOf({ points }: Sweep): string[] {
  return points.map(({ settings }) => Object.values(settings).join(", "));
}

export function coursesOf({ points }: Sweep, { list, quantity }: Choice): { measure: Measure; courses: Course[] } {
  const names = new Set(points.flatMap(({ result }) => itemsOf(result, list).map(({ name }) => name)));
  const found = [...names].map((name) => ({
    name,
    values: points.map(({ result }) => estimateOf(itemsOf(result, list).find((item) => item.name === name), quantity)),
  }));
  const means = found.flatMap(({ values }) => values.map((each) => each?.mean ?? 0));
  const measure = measureOf(quantity, Math.max(0, ...means));
  const scaled = (each: number | null) => (each === null ? null : each * measure.scale);
  const courses = found
    .filter(({ values }) => values.some(Boolean))
    .map(({ name, values }) => ({
      name,
      values: values.map((each) => each && { mean: scaled(each.mean), ci95: scaled(each.ci95) }),
    }));
  return { measure, courses };
}

/** Limits of the upright axis: all means, and intervals as far as they leave room for these. */
export function limitsOf(courses: readonly Course[]): [number, number] {
  const all = courses.flatMap(({ values }) => values.map((each) => [each?.mean ?? 0, each?.ci95 ?? 0] as const));
  const most = Math.max(0, ...all.map(([mean, half]) => mean + Math.min(half, mean)));
  return [Math.min(0, ...all.map(([mean]) => mean)), 1.05 * most || 1];
}

/** The picture in a sentence. */
export function sentence({ label }: Choice, courses: readonly Course[], labels: readonly string[]): string {
  const ends = courses.map(({ name, values }) => `${name} ${plain(values[0]?.mean)} to ${plain(values.at(-1)?.mean)}`);
  return `${label} from ${labels[0]} to ${labels.at(-1)}: ${ends.join(", ")}.`;
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
