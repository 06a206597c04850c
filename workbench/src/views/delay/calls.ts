/** Texts and tables about calls, and the choice of the tab that is shown first. */

import type { Answer, Call, Estimate, Item, Scenario } from "../../engine/answers";
import { estimateOf, itemsOf, numberOf, tableOf, tablesOf, textOf } from "../answer";
import { estimate, short } from "../digits";
import { type Table, tableOfList } from "../numbers/tables";

/**
 * Returns whether a scenario has flows for which delay is more important than goodput: paced datagrams, sensors, web
 * and finite flows.
 */
export function wantsDelay(scenario: Scenario): boolean {
  const flows = [scenario, tableOf(scenario, "csma")].flatMap((part) => tablesOf(part, "flows"));
  return flows.some((flow) => {
    const udp = tableOf(flow, "udp");
    const isPaced = udp !== null && textOf(udp, "arrivals") !== "greedy";
    const isFinite = numberOf(tableOf(flow, "tcp"), "segments") !== null;
    return isPaced || isFinite || tableOf(flow, "sensor") !== null || tableOf(flow, "web") !== null;
  });
}

/** Returns a sentence with delay and loss of a call's direction, and their confidence intervals. */
export function sentenceOf({ delay_p99_s, loss, waits_at, wait_share }: Call): string {
  const delay = scaled(delay_p99_s, 1e3);
  const within = delay === null ? "no packet arrives" : `99 % of packets arrive within ${delay} ms`;
  const share = wait_share === undefined ? "" : `, ${Math.round(100 * wait_share)} % of their waiting time`;
  const where = waits_at ? `. They wait longest in ${waits_at}${share}` : "";
  return `${within}, and ${scaled(loss, 100) ?? "-"} % are lost${where}`;
}

function scaled(value: Estimate | null, scale: number): string | null {
  if (value?.mean == null) return null;
  return value.ci95 ? estimate(value.mean * scale, value.ci95 * scale) : short(value.mean * scale);
}

const OF_FLOWS = /^(one_way_delay|rtt|report_|completion)|^loss_probability$/;
const OF_CLASSES = /^completion/;

/** Returns tables with the delays and losses of flows and classes that have a delay. */
export function delayTables(answer: Answer | null): Table[] {
  const wanted = { flows: OF_FLOWS, classes: OF_CLASSES };
  return Object.entries(wanted).flatMap(([list, keys]) => {
    const items = itemsOf(answer, list).filter((item) =>
      Object.keys(item).some((key) => keys.test(key) && key !== "loss_probability" && estimateOf(item, key)),
    );
    const delays = items.map(
      (item) => Object.fromEntries(Object.entries(item).filter(([key]) => key === "name" || keys.test(key))) as Item,
    );
    // datagrams come first, so that their columns also come first
    delays.sort((a, b) => Number("one_way_delay_s" in b) - Number("one_way_delay_s" in a));
    return delays.length ? [{ ...tableOfList(list, delays), title: `Delay and loss of ${list}` }] : [];
  });
}
