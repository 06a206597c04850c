/** What a search has answered: the settings that were confirmed, and the one to take. */

import type { Estimate } from "../engine/answers";
import { estimate } from "../views/digits";
import type { Table } from "../views/numbers/tables";

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
  left_out: { what: string | string[]; why: string }[];
  ruled_out: { what: string | string[]; why: string }[];
}

export const AIMS = ["throughput", "delay", "fairness", "calls"] as const;
export type Aim = (typeof AIMS)[number];

interface Column {
  title: string;
  unit: string;
  quantity: string;
  scale: number;
}

const COLUMNS: Column[] = [
  { title: "goodput", unit: "Mb/s", quantity: "goodput_bps", scale: 1e-6 },
  { title: "RTT", unit: "ms", quantity: "rtt_s", scale: 1e3 },
  { title: "Jain's index", unit: "", quantity: "jain", scale: 1 },
];
const MORE: Record<string, Column> = {
  delay: { title: "AP delay", unit: "ms", quantity: "sojourn_s", scale: 1e3 },
  fairness: { title: "Jain's index over 1 s, 5th percentile", unit: "", quantity: "jain_p05", scale: 1 },
  calls: { title: "calls", unit: "", quantity: "calls", scale: 1 },
};

/** Columns of an aim: what it aims at, where the usual ones have it not, before them. */
export function columnsOf({ objective, candidates }: Tuning): Column[] {
  const more = MORE[objective];
  const isKnown = more && candidates.some(({ simulated }) => simulated?.[more.quantity]);
  return isKnown ? [more, ...COLUMNS] : COLUMNS;
}

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
  const columns = columnsOf(tuning);
  return {
    title: `Tuned for ${tuning.objective}`,
    columns: [{ title: "AP / stations", unit: "" }, ...columns.map(({ title, unit }) => ({ title, unit }))],
    rows: confirmedOf(tuning).map((candidate) => [
      nameOf(tuning, candidate),
      ...columns.map(({ quantity, scale }) => {
        const { mean, ci95 } = candidate.simulated?.[quantity] ?? { mean: null, ci95: null };
        return mean === null ? "-" : estimate(mean * scale, ci95 === null ? null : ci95 * scale);
      }),
    ]),
  };
}

/** The name of a candidate, and whether it is the one to take. */
export function nameOf(tuning: Tuning, { name }: Candidate): string {
  return hasBetter(tuning) && name === tuning.chosen?.name ? `${name}, recommended` : name;
}

/** How it was searched: a sentence each. */
export function searchOf({ candidates, refusal, left_out, ruled_out }: Tuning): string[] {
  const others = candidates.slice(1);
  const count = (what: keyof Candidate) => others.filter((each) => each[what]).length;
  return [
    `${others.length} settings, ${count("screened")} tried by a short simulation, ${count("simulated")} confirmed.`,
    ...(refusal ? [`Not ranked by the model: ${refusal}.`] : []),
    ...left_out.map(({ what, why }) => `Left out: ${[what].flat().join(", ")}: ${why}.`),
    ...ruled_out.map(({ what, why }) => `Ruled out: ${[what].flat().length} for ${why}.`),
  ];
}
