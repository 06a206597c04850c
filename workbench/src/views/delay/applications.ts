/** Pings and chunks of applications: sentences about them, and results without or with only the pings. */

import type { Answer, Distribution, Estimate, Item, Scenario, Series } from "../../engine/answers";
import { estimateOf, itemsOf, tableOf, tablesOf } from "../answer";
import { estimate, short } from "../digits";
import type { Shown } from "../shown";

/** Returns the names of the flows of pings. */
export function pingsOf(scenario: Scenario): Set<string> {
  return new Set(tablesOf(scenario, "flows").filter((flow) => tableOf(flow, "ping")).map(({ name }) => String(name)));
}

/** Returns the shown results with the round-trip times of pings only, or of all other flows. */
export function withPings(shown: Shown, pings: ReadonlySet<string>, isPings: boolean): Shown {
  const isWanted = ({ name, quantity }: { name: string; quantity: string }) => quantity !== "rtt_s" || pings.has(name) === isPings;
  const filtered = <T extends { series: Series | null; distributions: Distribution[] | null }>(run: T): T => ({
    ...run,
    distributions: run.distributions?.filter(isWanted) ?? null,
    series: run.series && { ...run.series, tracks: run.series.tracks.filter(isWanted) },
  });
  return filtered({ ...shown, ...(shown.keptRun ? { keptRun: filtered(shown.keptRun) } : {}) });
}

export interface Sentence {
  name: string;
  sentence: string;
}

/** Returns a sentence about each flow of pings: round-trip times and loss. */
export function pingSentences(answer: Answer | null): Sentence[] {
  return about(answer, "rtt_p50_s", (item) => {
    const [median, p99] = [timeOf(item, "rtt_p50_s"), timeOf(item, "rtt_p99_s")];
    return `half of the pings take up to ${median}, and 99 % take up to ${p99}. ${lossOf(item)} are lost`;
  });
}

/** Returns a sentence about each flow whose application writes chunks: time to completion and late chunks. */
export function chunkSentences(answer: Answer | null): Sentence[] {
  return about(answer, "chunks", (item) => {
    const [late, count] = [estimateOf(item, "late_chunks"), estimateOf(item, "chunks")];
    const lateness = `${inWords(late)} of ${inWords(count)} chunks are late`;
    // a mean is known if a chunk of every replication has arrived
    if (!estimateOf(item, "chunk_completion_s")) return `in at least one replication, no chunk arrives completely. ${lateness}`;
    const [mean, p95] = [timeOf(item, "chunk_completion_s"), timeOf(item, "chunk_completion_p95_s")];
    return `a chunk takes ${mean} on average, and 95 % of the chunks take up to ${p95}. ${lateness}`;
  });
}

function about(answer: Answer | null, quantity: string, sentenceOf: (item: Item) => string): Sentence[] {
  const items = itemsOf(answer, "flows").filter((item) => estimateOf(item, quantity));
  return items.map((item) => ({ name: item.name, sentence: sentenceOf(item) }));
}

/** Returns a time with its unit. Times from one second on are in seconds. */
function timeOf(item: Item, quantity: string): string {
  const value = estimateOf(item, quantity);
  const isLong = (value?.mean ?? 0) >= 1;
  return `${inWords(value, isLong ? 1 : 1e3)} ${isLong ? "s" : "ms"}`;
}

function lossOf(item: Item): string {
  return `${inWords(estimateOf(item, "loss_probability"), 100)} %`;
}

function inWords(value: Estimate | null, scale = 1): string {
  if (value?.mean == null) return "-";
  return value.ci95 ? estimate(value.mean * scale, value.ci95 * scale) : short(value.mean * scale);
}
