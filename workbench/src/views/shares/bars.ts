/** Bars of goodput, with confidence intervals, parts by direction, and predictions. */

import type { Answer, Item, Scenario } from "../../engine/answers";
import { estimateOf, itemsOf, meanOf, tablesOf, textOf } from "../answer";
import { short } from "../digits";
import { thinned } from "../numbers/tables";

export type By = "stations" | "flows" | "classes";
export type Direction = "down" | "up" | "other";

export interface Part {
  direction: Direction;
  goodput_bps: number;
}

export interface Bar {
  name: string;
  /** Station of a flow, or null. The bars of a station's flows form a group with its name. */
  group: string | null;
  goodput_bps: number;
  /** Half width of the confidence interval, or null if there is none. [bit/s] */
  half_bps: number | null;
  /** Parts of the bar by direction. Their sum is the goodput. */
  parts: Part[];
  /** Predicted goodput. If a model predicts only the item's share, this is the predicted share multiplied by the total
   * goodput of the run. Null without a prediction. [bit/s] */
  predicted_bps: number | null;
  /** Goodput of this item in the kept run, or null if the kept run lacks it. [bit/s] */
  kept_bps: number | null;
  /** Whether the item is a sensor, which sends only reports and does not need an equal share. */
  isReporter: boolean;
}

/** Returns the lists whose items have a goodput. The most useful list is first. */
export function waysOf(answer: Answer): By[] {
  const has = (list: By) =>
    itemsOf(answer, list).some((item) => estimateOf(item, "goodput_bps") !== null);
  return (["stations", "flows", "classes"] as const).filter(has);
}

/** Returns a bar for each item of the list `by`. Bars of flows are sorted by station. */
export function barsOf(
  answer: Answer,
  by: By,
  scenario: Scenario = {},
  prediction: Answer | null = null,
  keptAnswer: Answer | null = null,
): Bar[] {
  const reporters = reportersOf(scenario, by);
  const predicted = predictedOf(answer, by, prediction);
  const before = new Map(itemsOf(keptAnswer, by).map((item) => [item.name, meanOf(item, "goodput_bps")]));
  const flows = by === "stations" ? flowsByStation(answer) : new Map<string, Item[]>();
  const bars = itemsOf(answer, by).flatMap((item): Bar[] => {
    const goodput = estimateOf(item, "goodput_bps");
    if (goodput?.mean == null) return [];
    return [
      {
        name: item.name,
        group: by === "flows" ? textOf(item, "station") : null,
        goodput_bps: goodput.mean,
        half_bps: goodput.ci95,
        parts: partsOf(item, goodput.mean, flows.get(item.name)),
        predicted_bps: predicted.get(item.name) ?? null,
        kept_bps: before.get(item.name) ?? null,
        isReporter: reporters.has(item.name),
      },
    ];
  });
  return by === "flows" ? together(bars) : bars;
}

/** Returns the names of items whose flows all belong to sensors. */
function reportersOf(scenario: Scenario, by: By): Set<string> {
  const key = { stations: "station", flows: "name", classes: "class" }[by];
  const reporting = new Set<string>();
  const others = new Set<string>();
  for (const flow of tablesOf(scenario, "flows")) {
    const name = textOf(flow, key);
    if (name !== null) (flow["sensor"] ? reporting : others).add(name);
  }
  return new Set([...reporting].filter((name) => !others.has(name)));
}

/** Returns whether the prediction has only the shares of the items in the list `by`, and not their goodputs. */
export function saysSharesAlone(by: By, prediction: Answer | null): boolean {
  const items = itemsOf(prediction, by);
  const says = (quantity: string) => items.some((item) => meanOf(item, quantity) !== null);
  return !says("goodput_bps") && says("goodput_share");
}

function predictedOf(
  answer: Answer,
  by: By,
  prediction: Answer | null,
): Map<string, number | null> {
  const isShare = saysSharesAlone(by, prediction);
  const whole_bps = itemsOf(answer, by).reduce(
    (sum, item) => sum + (meanOf(item, "goodput_bps") ?? 0),
    0,
  );
  return new Map(
    itemsOf(prediction, by).map((item) => {
      const mean = meanOf(item, isShare ? "goodput_share" : "goodput_bps");
      return [item.name, mean !== null && isShare ? mean * whole_bps : mean];
    }),
  );
}

function flowsByStation(answer: Answer): Map<string, Item[]> {
  const flows = new Map<string, Item[]>();
  for (const flow of itemsOf(answer, "flows")) {
    const station = textOf(flow, "station");
    if (station !== null) flows.set(station, [...(flows.get(station) ?? []), flow]);
  }
  return flows;
}

/** Returns the goodput by direction. Goodput whose direction is unknown has the direction "other". */
function partsOf(item: Item, whole_bps: number, flows: Item[] | undefined): Part[] {
  const sums = { down: 0, up: 0, other: 0 };
  for (const flow of flows ?? [item]) {
    const value = meanOf(flow, "goodput_bps") ?? 0;
    sums[directionOf(flow)] += value;
  }
  const rest = whole_bps - sums.down - sums.up - sums.other;
  if (rest > 0.005 * whole_bps) sums.other += rest;
  return (["down", "up", "other"] as const)
    .filter((direction) => sums[direction] > 0)
    .map((direction) => ({ direction, goodput_bps: sums[direction] }));
}

function directionOf(flow: Item): Direction {
  const word = textOf(flow, "direction");
  return word === "down" || word === "up" ? word : "other";
}

/** Sorts the bars so that the bars of a group are adjacent. Groups are in the order of their first bars. */
function together(bars: Bar[]): Bar[] {
  const groups = new Map<string | null, Bar[]>();
  for (const bar of bars) groups.set(bar.group, [...(groups.get(bar.group) ?? []), bar]);
  return [...groups.values()].flat();
}

/** Sorts bars from the highest to the lowest, and returns `count` of them at equal distances in this order. */
export function sampleOf(bars: Bar[], count: number): Bar[] {
  const ranked = [...bars].sort((a, b) => b.goodput_bps - a.goodput_bps);
  return thinned(ranked, count).map((bar) => ({ ...bar, group: null }));
}

/**
 * Returns the equal share: the mean goodput of the bars that are not sensors. Returns null for fewer than two bars.
 * [bit/s]
 */
export function equalShare_bps(bars: Bar[]): number | null {
  const sharing = bars.filter((bar) => !bar.isReporter);
  return sharing.length < 2 ? null : total_bps(sharing) / sharing.length;
}

export function total_bps(bars: Bar[]): number {
  return bars.reduce((sum, bar) => sum + bar.goodput_bps, 0);
}

/**
 * Largest length of a drawn interval, as a multiple of the longest bar. With two replications, an interval may be ten
 * times as long as its bar. [-]
 */
const BEYOND = 1.5;

/** Returns the end of the axis. The axis includes all bars and predictions, and intervals up to `BEYOND`. [bit/s] */
export function axisEnd_bps(bars: Bar[]): number {
  const longest = Math.max(
    ...bars.map((bar) => Math.max(bar.goodput_bps, bar.predicted_bps ?? 0, bar.kept_bps ?? 0)),
    equalShare_bps(bars) ?? 0,
    1,
  );
  const ends = bars.map((bar) => bar.goodput_bps + (bar.half_bps ?? 0));
  return Math.min(Math.max(longest, ...ends), BEYOND * longest) * 1.04;
}

const NAMED = 6;

/** Returns a sentence that describes the chart. */
export function sentence(bars: Bar[]): string {
  const [first, ...rest] = [...bars].sort((a, b) => b.goodput_bps - a.goodput_bps);
  if (!first) return "No goodput has been measured.";
  const megabits = (bps: number) => short(bps / 1e6);
  let text = `${first.name} gets ${megabits(first.goodput_bps)} of ${megabits(total_bps(bars))} Mb/s`;
  const named = rest.length > NAMED ? rest.slice(0, NAMED - 1) : rest;
  for (const bar of named) text += `, ${bar.name} ${megabits(bar.goodput_bps)}`;
  const last = rest.at(-1);
  const others = rest.slice(named.length);
  if (last && others[0]) {
    const [most, least] = [megabits(others[0].goodput_bps), megabits(last.goodput_bps)];
    text += `, ${others.length} others ${most === least ? most : `${least} to ${most}`} each`;
  }
  return `${text}.`;
}
