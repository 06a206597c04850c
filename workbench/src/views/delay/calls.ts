/** Texts and tables about calls, and the choice of the tab that is shown first. */

import type { Answer, Call, Estimate, Item, Scenario } from "../../engine/answers";
import { estimateOf, itemsOf, numberOf, tableOf, tablesOf, textOf } from "../answer";
import { estimate, short } from "../digits";
import { type Table, tableOfList } from "../numbers/tables";

/**
 * Returns whether a scenario has flows for which delay is more important than goodput: paced datagrams, sensors, web,
 * pings, chunks of applications and finite flows.
 */
export function wantsDelay(scenario: Scenario): boolean {
  const flows = [scenario, tableOf(scenario, "csma")].flatMap((part) => tablesOf(part, "flows"));
  return flows.some((flow) => {
    const udp = tableOf(flow, "udp");
    const isPaced = udp !== null && textOf(udp, "arrivals") !== "greedy";
    const isFinite = numberOf(tableOf(flow, "tcp"), "segments") !== null;
    const hasChunks = numberOf(tableOf(flow, "application"), "every_s") !== null;
    return isPaced || isFinite || hasChunks || ["sensor", "web", "ping"].some((key) => tableOf(flow, key) !== null);
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
const OF_CHUNKS = /^(chunk|late_chunks)/;
const OF_CLASSES = /^completion/;

/** Returns tables with the delays and losses of flows and classes that have a delay. Pings and chunks have tables of their own. */
export function delayTables(answer: Answer | null): Table[] {
  const flows = itemsOf(answer, "flows");
  const isPing = (item: Item) => "rtt_p50_s" in item;
  return [
    tableWith("flows", "Pings", flows.filter(isPing), OF_FLOWS),
    tableWith("flows", "Chunks of applications", flows, OF_CHUNKS),
    tableWith("flows", "Delay and loss of flows", flows.filter((item) => !isPing(item)), OF_FLOWS),
    tableWith("classes", "Delay and loss of classes", itemsOf(answer, "classes"), OF_CLASSES),
  ].flat();
}

/** Returns a table of the items with quantities that match `keys`. The list is empty if no item has such a quantity. */
function tableWith(list: string, title: string, items: Item[], keys: RegExp): Table[] {
  const delays = items
    .filter((item) => Object.keys(item).some((key) => keys.test(key) && key !== "loss_probability" && estimateOf(item, key)))
    .map((item) => Object.fromEntries(Object.entries(item).filter(([key]) => key === "name" || keys.test(key))) as Item);
  // datagrams come first, so that their columns also come first
  delays.sort((a, b) => Number("one_way_delay_s" in b) - Number("one_way_delay_s" in a));
  return delays.length ? [{ ...tableOfList(list, delays), title }] : [];
}
