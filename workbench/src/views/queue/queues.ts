/** Queues of a scenario, with their disciplines and measurements. */

import type { Answer, Scenario, Series, Track } from "../../engine/answers";
import { itemsOf, meanOf, numberOf, tableOf, tablesOf, textOf } from "../answer";

export interface Queue {
  /** Name of the queue in the result's list. */
  name: string;
  /** Settings of the queue in the checked scenario, including its discipline. */
  setting: Scenario;
  limit_packets: number;
  /** Rate at which the queue drains, or null if unknown. [bit/s] */
  rate_bps: number | null;
}

/** Returns the queues of a scenario that have a limit. Drop-tail queues are last. */
export function queuesOf(scenario: Scenario): Queue[] {
  const queues: Queue[] = [];
  const add = (name: string | null, from: Scenario | null, rate_bps: number | null) => {
    const setting = tableOf(from, "queue");
    const limit_packets = numberOf(from, "queue_packets");
    if (name === null || !setting || limit_packets === null) return;
    queues.push({ name, setting, limit_packets, rate_bps });
  };
  for (const link of tablesOf(scenario, "links")) {
    if (link["of_host"] !== true) add(textOf(link, "name"), link, numberOf(link, "rate_bps"));
  }
  const cell = tableOf(scenario, "cell");
  if (cell) {
    add("ap", tableOf(cell, "ap"), null);
    const wire = tableOf(scenario, "wire");
    const rate_bps = numberOf(wire, "rate_bps");
    if (rate_bps !== null) ["wire/down", "wire/up"].forEach((name) => add(name, wire, rate_bps));
    for (const station of tablesOf(scenario, "stations"))
      add(textOf(station, "name"), station, null);
  }
  const isPlain = ({ setting }: Queue) => textOf(setting, "discipline") === "drop_tail";
  return [...queues.filter((queue) => !isPlain(queue)), ...queues.filter(isPlain)];
}

/** Largest number of queues from which the user can choose. */
const MOST = 60;

/**
 * Returns the queues for which a result has measurements. Drop-tail queues are last. Within both kinds, queues are
 * sorted by their drop probability, and queues with equal drop probabilities by their length.
 */
export function measuredQueues(queues: Queue[], answer: Answer | null): Queue[] {
  const weights = new Map(
    itemsOf(answer, "queues").map((item) => [
      item.name,
      1e9 * (meanOf(item, "drop_probability") ?? 0) + (meanOf(item, "occupancy_packets") ?? 0),
    ]),
  );
  const isPlain = (queue: Queue) => textOf(queue.setting, "discipline") === "drop_tail";
  return queues
    .filter(({ name }) => weights.has(name))
    .sort(
      (a, b) =>
        Number(isPlain(a)) - Number(isPlain(b)) || weights.get(b.name)! - weights.get(a.name)!,
    )
    .slice(0, MOST);
}

/** Measurements of a queue. */
export interface Operating {
  /** Time average of the queue length; null if it was not measured. [packets] */
  packets: number | null;
  /** Fraction of packets that the queue dropped or marked; null if it was not measured. [-] */
  probability: number | null;
  sojourn_s: number | null;
}

export function operatingOf(answer: Answer | null, name: string): Operating {
  const item = itemsOf(answer, "queues").find((each) => each.name === name);
  const dropped = meanOf(item, "drop_probability");
  const marked = meanOf(item, "mark_probability");
  return {
    packets: meanOf(item, "occupancy_packets"),
    probability: dropped === null ? marked : dropped + (marked ?? 0),
    sojourn_s: meanOf(item, "sojourn_s"),
  };
}

export function trackOf(series: Series | null, name: string): Track | null {
  const isIt = (track: Track) => track.name === name && track.quantity === "occupancy_packets";
  return series?.tracks.find(isIt) ?? null;
}

/** Returns the 5th and the 95th percentile of samples, or null without samples. */
export function swingOf(values: (number | null)[]): [number, number] | null {
  const sorted = values.filter((each) => each !== null).sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))];
  const [low, high] = [at(0.05), at(0.95)];
  return low === undefined || high === undefined ? null : [low, high];
}
