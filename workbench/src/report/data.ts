/** Data of a report, as the Python module `lasthop.report` writes it. */

import type { Answer, Distribution, Scenario, Series } from "../engine/answers";
import type { Column } from "../views/numbers/tables";

/** Results of one scenario. */
export interface Run {
  /** Type of the results: simulation, prediction or emulation. */
  label: string;
  scenario: Scenario;
  answer: Answer;
  prediction: Answer | null;
  series: Series | null;
  distributions: Distribution[];
}

export interface ReportTable {
  title: string;
  /** Column titles, in one or more lines. The last line may be a unit in brackets. */
  heads: string[];
  rows: string[][];
  /** Indices of the rows that are printed in bold. */
  bold: number[];
}

export interface ReportData {
  title: string;
  about: string;
  command: string;
  version: string;
  seed: number;
  /** Text of the scenario file. */
  text: string;
  settings: [path: string, value: string][];
  notes: string[];
  warnings: string[];
  runs: Run[];
  tables: ReportTable[];
  /** Picture as PNG in base64, or empty. */
  picture: string;
  alt: string;
}

/** Splits a column title into the title and its unit. */
export function columnOf(head: string): Column {
  const [, words = "", unit = ""] = /^(.*?)(?:\n\[([^\]\n]*)\])?$/s.exec(head) ?? [];
  return { title: words.replaceAll("\n", " "), unit: unit === "-" ? "" : unit };
}

/** Decodes JSON that was compressed with gzip and encoded in base64. */
export async function dataOf(text: string): Promise<ReportData> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(plain).json()) as ReportData;
}
