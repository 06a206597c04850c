/** Result of `lasthop tune`: confirmed candidates and the recommended candidate. */

import type { Estimate, Item } from "../engine/answers";
import { type Table, tableOfList } from "../views/numbers/tables";

type Measured = Record<string, Estimate | undefined>;

export interface Candidate {
  name: string;
  settings: Record<string, unknown>;
  simulated: Measured | null;
}

/** Output of `lasthop tune --json`. */
export interface Tuning {
  objective: string;
  candidates: Candidate[];
  /** Chosen candidate: the recommended candidate, or the present settings if none is recommended. */
  chosen: { name: string; settings: Record<string, unknown> } | null;
  /** Recommendation, or the reason why no candidate is recommended. */
  verdict: string;
  /** Queue in which packets wait longest, or null if it is the queue of the access point. */
  elsewhere: { text: string } | null;
  /** Delays of calls, one sentence per direction. */
  call_delays: { text: string }[];
  /** Stations with a lower goodput under the recommended candidate than under the present settings. [bit/s] */
  losers: { station: string; now_bps: number; then_bps: number }[];
  costs: string[];
  /** Reasons for which candidates were ruled out: a bound, or the cost. `what` has the names of the candidates that
   * were ruled out for this reason. */
  ruled_out: { what: string[] }[];
}

export const AIMS = ["throughput", "delay", "fairness", "calls"] as const;
export type Aim = (typeof AIMS)[number];

/** Quantities shown for each candidate, after the quantity of the aim. */
const SHOWN = ["goodput_bps", "rtt_s", "jain"];
const AIMED_AT: Record<string, string> = { delay: "sojourn_s", fairness: "jain_p05", calls: "calls" };

/** Returns the confirmed candidates: the present settings, then the recommended candidate, then other candidates. */
export function confirmedOf({ candidates, chosen }: Tuning): Candidate[] {
  const rank = ({ name, settings }: Candidate) => (Object.keys(settings).length ? (name === chosen?.name ? 1 : 2) : 0);
  return candidates.filter(({ simulated }) => simulated).sort((candidate, other) => rank(candidate) - rank(other));
}

/** Returns whether a candidate is recommended. */
export function hasBetter({ chosen }: Tuning): boolean {
  return chosen !== null && Object.keys(chosen.settings).length > 0;
}

/** Returns sentences that the user should read before changing settings. */
export function notesOf({ call_delays, costs, elsewhere, losers }: Tuning): string[] {
  const notes: string[] = [];
  if (elsewhere) notes.push(`The longest delay does not occur at the access point: ${elsewhere.text}.`);
  if (call_delays.length) notes.push(`The delay of the calls is ${call_delays.map(({ text }) => text).join(" and ")}. Choose the aim "calls" to tune for them.`);
  if (costs.length) notes.push(`Costs of the recommended setting: ${costs.join("; ")}.`);
  const lost = losers.map(({ station, now_bps, then_bps }) => `${station} ${megabits(then_bps)} instead of ${megabits(now_bps)} Mb/s`);
  if (lost.length) notes.push(`Stations that get less: ${lost.join("; ")}.`);
  return notes;
}

function megabits(rate_bps: number): string {
  return (rate_bps * 1e-6).toPrecision(4);
}

export function tableOf(tuning: Tuning): Table {
  const { objective } = tuning;
  const quantities = [AIMED_AT[objective] ?? "", ...SHOWN];
  const items = confirmedOf(tuning).map((candidate): Item => {
    const values = quantities.map((quantity) => [quantity, candidate.simulated?.[quantity]]);
    return { ...Object.fromEntries(values), name: nameOf(tuning, candidate) };
  });
  const table = tableOfList(`Tuned for ${objective}`, items);
  const [, ...columns] = table.columns;
  return { ...table, columns: [{ title: "CWmin of AP / stations", unit: "" }, ...columns] };
}

/** Returns the name of a candidate, followed by ", recommended" if the candidate is recommended. */
export function nameOf(tuning: Tuning, { name }: Candidate): string {
  return hasBetter(tuning) && name === tuning.chosen?.name ? `${name}, recommended` : name;
}

/** Returns a sentence about the search: how many candidates were tried, ruled out, and confirmed.
 */
export function searchOf({ candidates, ruled_out }: Tuning): string {
  const confirmed = candidates.filter(({ simulated }) => simulated).length - 1;
  const out = ruled_out.reduce((sum, { what }) => sum + what.length, 0);
  return `${candidates.length - 1} settings were tried, ${out} were ruled out, and ${confirmed} were confirmed by full simulations.`;
}
