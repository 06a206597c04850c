/** Which tab comes first, and the calls of an explanation in words. */

import type { Answer, Call, Estimate, Item, Scenario } from "../../engine/answers";
import { estimateOf, itemsOf, numberOf, tableOf, tablesOf, textOf } from "../answer";
import { estimate } from "../digits";
import { type Table, tableOfList } from "../numbers/tables";

/** Delay and loss of a call that is good (ITU-T G.114; audio codecs conceal 1 % of loss). */
export const GOOD = { delay_s: 0.15, loss: 0.01 };

/** Flows for which delay matters more than goodput: paced datagrams, sensors, web and finite flows. */
export function wantsDelay(scenario: Scenario): boolean {
  const flows = [scenario, tableOf(scenario, "csma")].flatMap((part) => tablesOf(part, "flows"));
  return flows.some((flow) => {
    const udp = tableOf(flow, "udp");
    const isPaced = udp !== null && textOf(udp, "arrivals") !== "greedy";
    const isFinite = numberOf(tableOf(flow, "tcp"), "segments") !== null;
    return isPaced || isFinite || tableOf(flow, "sensor") !== null || tableOf(flow, "web") !== null;
  });
}

/** The delay and loss of a direction in a sentence, with their intervals. */
export function sentenceOf(call: Call): string {
  const { delay_p99_s: delay, loss, waits_at, wait_share } = call;
  const scaled = (value: Call["loss"], scale: number) =>
    estimate(value.mean === null ? null : value.mean * scale, value.ci95 === null ? null : value.ci95 * scale);
  const within = delay.mean === null ? "no packet arrives" : `99 % of packets arrive within ${scaled(delay, 1e3)} ms`;
  const where = waits_at ? `; ${wait_share ? `${Math.round(100 * wait_share)} % of the delay is` : "packets wait"} in ${waits_at}` : "";
  return `${within}, ${scaled(loss, 100)} % are lost${where}`;
}

const OF_FLOWS = /^(one_way_delay|rtt|report_|completion)|^loss_probability$/;
const OF_CLASSES = /^completion/;

/** Tables of the flows and classes that have a delay, with their delays and losses only. */
export function delayTables(answer: Answer | null): Table[] {
  const wanted = { flows: OF_FLOWS, classes: OF_CLASSES };
  return Object.entries(wanted).flatMap(([list, keys]) => {
    const items = itemsOf(answer, list).filter((item) =>
      Object.keys(item).some((key) => keys.test(key) && key !== "loss_probability" && estimateOf(item, key)),
    );
    const kept = items.map(
      (item) => Object.fromEntries(Object.entries(item).filter(([key]) => key === "name" || keys.test(key))) as Item,
    );
    return kept.length ? [{ ...tableOfList(list, kept), title: `Delay and loss of ${list}` }] : [];
  });
}

/** Calls by station: paced datagrams in both directions. */
export function callsOf(scenario: Scenario, answer: Answer | null): Call[] {
  const items = new Map(itemsOf(answer, "flows").map((item) => [item.name, item]));
  const paced = tablesOf(scenario, "flows").filter((flow) => textOf(tableOf(flow, "udp"), "arrivals") === "constant");
  const stations = [...new Set(paced.map((flow) => textOf(flow, "station")))].filter((name) => name !== null);
  return stations.flatMap((name): Call[] => {
    const directions = (["up", "down"] as const).map((direction) => {
      const flows = paced.filter((flow) => textOf(flow, "station") === name && textOf(flow, "direction") === direction);
      return { direction, flows: flows.map((flow) => textOf(flow, "name") ?? "") };
    });
    if (directions.some(({ flows }) => !flows.length)) return [];
    return directions.flatMap(({ direction, flows }) => {
      const delay_p99_s = worst(flows.map((flow) => estimateOf(items.get(flow), "one_way_delay_p99_s")));
      const loss = worst(flows.map((flow) => estimateOf(items.get(flow), "loss_probability")));
      if (!delay_p99_s || !loss) return [];
      return [{ name, direction, flows, delay_p99_s, loss, verdict: verdictOf(delay_p99_s, loss) }];
    });
  });
}

function worst(values: (Estimate | null)[]): Estimate | null {
  const known = values.filter((value) => value !== null);
  return known.sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))[0] ?? null;
}

function verdictOf(delay: Estimate, loss: Estimate): Call["verdict"] {
  const sides = [[delay, GOOD.delay_s], [loss, GOOD.loss]] as const;
  const end = ({ mean, ci95 }: Estimate, sign: 1 | -1) => (mean ?? 0) + sign * (ci95 ?? 0);
  if (sides.some(([value, limit]) => end(value, -1) > limit)) return "bad";
  return sides.every(([value, limit]) => end(value, 1) <= limit) ? "good" : "uncertain";
}
