/** The data of a report, as `lasthop.report` writes them. */

import type { Answer, Distribution, Scenario, Series } from "../engine/answers";
import type { Column } from "../views/numbers/tables";

/** Results of one scenario. */
export interface Run {
  /** Kind of the result: simulation, prediction or emulation. */
  label: string;
  scenario: Scenario;
  answer: Answer;
  prediction: Answer | null;
  series: Series | null;
  distributions: Distribution[];
}

export interface ReportTable {
  title: string;
  /** Titles of the columns, in one or more lines; the last line may be a unit in brackets. */
  heads: string[];
  rows: string[][];
  /** Indices of the rows in bold. */
  bold: number[];
}

export interface ReportData {
  title: string;
  about: string;
  command: string;
  version: string;
  seed: number;
  /** The scenario file. */
  text: string;
  settings: [path: string, value: string][];
  notes: string[];
  warnings: string[];
  runs: Run[];
  tables: ReportTable[];
  /** PNG in base64; empty without a picture. */
  picture: string;
  alt: string;
}

/** Splits the head of a column into its title and its unit. */
export function columnOf(head: string): Column {
  const [, words = "", unit = ""] = /^(.*?)(?:\n\[([^\]\n]*)\])?$/s.exec(head) ?? [];
  return { title: words.replaceAll("\n", " "), unit: unit === "-" ? "" : unit };
}

/** Reads JSON that was compressed by gzip and encoded in base64. */
export async function dataOf(text: string): Promise<ReportData> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(plain).json()) as ReportData;
}
