/** The edits that lead from one scenario to another, in words. */

import type { Source } from "../engine/engine";
import { isTree, type Tree, treeOf } from "./edit";
import { settled } from "./settled";

/** Longest value that is written out. [characters] */
const MOST_CHARACTERS = 40;

/** Each value that differs, as `key: before → after`; a title and the name of the scenario do not count. */
export function changesBetween(before: Source, after: Source): string[] {
  const [one, other] = [before, after].map((source) => settled(source.text, source.settings));
  const found: string[] = [];
  if (one && other) compare(treeOf(one.text) ?? {}, treeOf(other.text) ?? {}, "", found);
  const over = (settings: string[], others: string[]) => settings.filter((setting) => !others.includes(setting));
  found.push(...over(other?.over ?? [], one?.over ?? []), ...over(one?.over ?? [], other?.over ?? []).map((gone) => `without ${gone}`));
  return found.filter((change) => !change.startsWith("name"));
}

function compare(before: Tree, after: Tree, prefix: string, found: string[]): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[key], after[key]];
    const path = prefix + key;
    if (isTree(one) && isTree(other)) compare(one, other, `${path}.`, found);
    else if (written(one) === written(other)) continue;
    else if (other === undefined) found.push(`without ${path}`);
    else found.push(one === undefined ? `${path} = ${short(other)}` : `${path}: ${short(one)} → ${short(other)}`);
  }
}

function short(value: unknown): string {
  const text = written(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}

/** A value as TOML writes it on one line; an empty table inside another one by its key only. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (!isTree(value)) return value === undefined ? "" : JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) =>
    isTree(inner) && Object.keys(inner).length === 0 ? key : `${key} = ${written(inner)}`,
  );
  return pairs.length === 1 && !pairs[0]?.includes("=") ? (pairs[0] as string) : `{ ${pairs.join(", ")} }`;
}
