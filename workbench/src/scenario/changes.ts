/** Descriptions of the edits that lead from one scenario to another. */

import type { Source } from "../engine/engine";
import { isTree, type Tree, treeOf } from "./edit";
import { settled } from "./settled";

/** Largest length of a value that is shown completely. [characters] */
const MAX_CHARACTERS = 40;

/** Returns each difference as `key: before → after`. Titles and the name of the scenario are left out. */
export function changesBetween(before: Source, after: Source): string[] {
  const [former, latter] = [before, after].map((source) => settled(source.text, source.settings));
  const changes: string[] = [];
  if (former && latter) compare(treeOf(former.text) ?? {}, treeOf(latter.text) ?? {}, "", changes);
  const over = (settings: string[], others: string[]) => settings.filter((setting) => !others.includes(setting));
  changes.push(...over(latter?.over ?? [], former?.over ?? []), ...over(former?.over ?? [], latter?.over ?? []).map((gone) => `without ${gone}`));
  return changes.filter((change) => !change.startsWith("name"));
}

function compare(before: Tree, after: Tree, prefix: string, changes: string[]): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [former, latter] = [before[key], after[key]];
    const path = prefix + key;
    if (isTree(former) && isTree(latter)) compare(former, latter, `${path}.`, changes);
    else if (written(former) === written(latter)) continue;
    else if (latter === undefined) changes.push(`without ${path}`);
    else changes.push(former === undefined ? `${path} = ${short(latter)}` : `${path}: ${short(former)} → ${short(latter)}`);
  }
}

function short(value: unknown): string {
  const text = written(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}

/** Returns a value as TOML on one line. An empty table inside another table is shown as its key, without `= {}`. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (!isTree(value)) return value === undefined ? "" : JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) =>
    isTree(inner) && Object.keys(inner).length === 0 ? key : `${key} = ${written(inner)}`,
  );
  return pairs.length === 1 && !pairs[0]?.includes("=") ? (pairs[0] as string) : `{ ${pairs.join(", ")} }`;
}
