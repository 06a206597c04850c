/** Results and pictures as tables of text, which screen readers can read. */

import type { Answer, Item } from "../../engine/answers";
import { estimateOf, listsOf } from "../answer";
import { estimate } from "../digits";
import { measureOf } from "../quantity";

export interface Column {
  title: string;
  unit: string;
}

export interface Table {
  title: string;
  columns: Column[];
  /** Rows of cells; the first cell is the name of the row. */
  rows: string[][];
}

/** Returns the columns for these headings. A heading is a title, followed by its unit in brackets if it has one. */
export function columnsOf(...heads: string[]): Column[] {
  return heads.map((head) => {
    const [, title = head, unit = ""] = /^(.*) \[(.*)\]$/.exec(head) ?? [];
    return { title, unit };
  });
}

/** Keys of items that are not measured quantities. */
const NOT_QUANTITIES = new Set(["name"]);

/** Returns a table for each list of a result. */
export function tablesOfAnswer(answer: Answer): Table[] {
  return listsOf(answer).map(([list, items]) => tableOfList(list, items));
}

export function tableOfList(list: string, items: Item[]): Table {
  const keys = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const words = keys.filter(
    (key) => !NOT_QUANTITIES.has(key) && items.some((item) => typeof item[key] === "string"),
  );
  const quantities = keys.filter((key) => items.some((item) => estimateOf(item, key) !== null));
  const measures = quantities.map((key) => {
    const means = items.map((item) => Math.abs(estimateOf(item, key)?.mean ?? 0));
    return measureOf(key, Math.max(...means));
  });
  const rows = items.map((item) => [
    item.name,
    ...words.map((key) => (typeof item[key] === "string" ? (item[key] as string) : "-")),
    ...quantities.map((key, at) => {
      const value = estimateOf(item, key);
      const scale = measures[at]?.scale ?? 1;
      if (value?.mean == null) return "-";
      return estimate(value.mean * scale, value.ci95 === null ? null : value.ci95 * scale);
    }),
  ]);
  const columns = [
    { title: "name", unit: "" },
    ...words.map((title) => ({ title, unit: "" })),
    ...measures.map(({ title, unit }) => ({ title, unit })),
  ];
  return { title: list, columns, rows };
}

/** Returns at most `most` rows at equal distances, including the first and the last row. */
export function thinned<T>(rows: readonly T[], most: number): T[] {
  if (rows.length <= most) return [...rows];
  const step = (rows.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, k) => rows[Math.round(k * step)] as T);
}
