/** What a search has answered: the settings that were confirmed, and the one to take. */

import type { Estimate, Item } from "../engine/answers";
import { type Table, tableOfList } from "../views/numbers/tables";

type Measured = Record<string, Estimate | undefined>;

export interface Candidate {
  name: string;
  settings: Record<string, unknown>;
  screened: Measured | null;
  simulated: Measured | null;
}

/** What `lasthop tune --json` prints. */
export interface Tuning {
  objective: string;
  refusal: string | null;
  candidates: Candidate[];
  /** The one to take; null where nothing was confirmed. */
  chosen: { name: string; settings: Record<string, unknown> } | null;
  costs: string[];
  ruled_out: { what: string[]; why: string }[];
}

export const AIMS = ["throughput", "delay", "fairness", "calls"] as const;
export type Aim = (typeof AIMS)[number];

/** What is shown of each, behind what is aimed at. */
const SHOWN = ["goodput_bps", "rtt_s", "jain"];
const AIMED_AT: Record<string, string> = { delay: "sojourn_s", fairness: "jain_p05", calls: "calls" };

/** Settings that were confirmed: the present one first, behind it the one to take. */
export function confirmedOf({ candidates, chosen }: Tuning): Candidate[] {
  const rank = ({ name, settings }: Candidate) => (Object.keys(settings).length ? (name === chosen?.name ? 1 : 2) : 0);
  return candidates.filter(({ simulated }) => simulated).sort((one, other) => rank(one) - rank(other));
}

/** Whether there is anything to set. */
export function hasBetter({ chosen }: Tuning): boolean {
  return chosen !== null && Object.keys(chosen.settings).length > 0;
}

export function tableOf(tuning: Tuning): Table {
  const { objective } = tuning;
  const quantities = [AIMED_AT[objective] ?? "", ...SHOWN];
  const items = confirmedOf(tuning).map((candidate): Item => {
    const values = quantities.map((quantity) => [quantity, candidate.simulated?.[quantity]]);
    return { ...Object.fromEntries(values), name: nameOf(tuning, candidate) };
  });
  return tableOfList(`Tuned for ${objective}`, items);
}

/** The name of a candidate, and whether it is the one to take. */
export function nameOf(tuning: Tuning, { name }: Candidate): string {
  return hasBetter(tuning) && name === tuning.chosen?.name ? `${name}, recommended` : name;
}

/** How it was searched: a sentence each. */
export function searchOf({ candidates, refusal, ruled_out }: Tuning): string[] {
  const count = (what: keyof Candidate) => candidates.slice(1).filter((each) => each[what]).length;
  return [
    `${candidates.length - 1} settings, ${count("screened")} tried by a short simulation, ${count("simulated")} confirmed.`,
    ...(refusal ? [`Not ranked by the model: ${refusal}.`] : []),
    ...ruled_out.map(({ what, why }) => `Ruled out: ${what.length} for ${why}.`),
  ];
}
