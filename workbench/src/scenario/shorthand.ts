/** Bare values of tables, such as `download = 4`, and named groups of connections in a text. */

import { isJson } from "../engine/engine";
import { edited, isTree, keyText, place, same, splice, treeOf, type Tree, valueAt, withTable, type Written } from "./edit";
import { outline, samePath, startsWith } from "./outline";

/** Keys of stations whose value may be bare, and the key of their table that the bare value sets. */
export const BARE: Readonly<Record<string, string>> = { download: "connections", upload: "connections", call: "calls", ping: "every" };

/** Name of the group for connections that had no group before. */
export const FORMER = "bulk";

/** Returns the names of the groups in the value of `download` or `upload`. The list is empty if there are no groups. */
export function groupsOf(value: unknown): string[] {
  if (!isTree(value)) return [];
  const names = Object.keys(value);
  return names.every((name) => isTree(value[name]) && !SETTINGS.has(name)) ? names : [];
}

/** Keys of connections whose values are tables. */
const SETTINGS = new Set(["compound", "cubic_linux", "dctcp", "prague", "bbr", "bbr3"]);

/** Returns the text with a value at a key path, as `edited`. A bare value on the path first becomes a table. */
export function editedTable(text: string, path: readonly string[], value: Written): string | null {
  const tree = treeOf(text);
  const table = path.slice(0, -1);
  const own = BARE[table[2] ?? ""];
  const before = tree && valueAt(tree, table);
  if (table.length !== 3 || table[0] !== "station" || own === undefined || before === undefined || isTree(before)) {
    return edited(text, path, value);
  }
  if (value === null) return text;
  const expanded = edited(text, table, `{ ${own} = ${JSON.stringify(before)} }`);
  return expanded && edited(expanded, path, value);
}

/**
 * Returns the text with a new group of connections at `path`. Connections of the same direction that have no group
 * become the group `bulk`.
 *
 * Returns null if the text has a syntax error, already has the group, or cannot be edited without other changes.
 */
export function withGroup(text: string, path: readonly string[], keys: Readonly<Record<string, string>>): string | null {
  const tree = treeOf(text);
  const table = path.slice(0, -1);
  if (!tree || valueAt(tree, path) !== undefined) return null;
  const before = valueAt(tree, table);
  let grouped: string | null = text;
  if (before === 0) grouped = edited(text, table, null);
  else if (before !== undefined && !groupsOf(before).length) grouped = inGroup(text, table, FORMER);
  return grouped && withTable(grouped, path, keys);
}

/** Returns the text in which the value at `path`, a number of connections or a table, is the group `name`. */
function inGroup(text: string, path: readonly string[], name: string): string | null {
  const tree = treeOf(text);
  const before = tree && valueAt(tree, path);
  if (!tree || before === undefined) return null;
  const own = isTree(before) ? before : { connections: before };
  const wanted = structuredClone(tree);
  place(wanted, path, { [name]: own });
  const candidates = isJson(text) || !isTree(before) ? [] : wrappings(text, path, name);
  const wrapped = candidates.find((changed) => same(treeOf(changed), wanted));
  return wrapped ?? edited(text, path, tomlOf({ [name]: own }));
}

/** Returns versions of the text in which only a header or a pair of braces is changed. */
function wrappings(text: string, path: readonly string[], name: string): string[] {
  const { entries, tables } = outline(text);
  const headers = tables.filter((table) => table.kind === "header" && startsWith(table.path, path));
  let renamed = text;
  for (const { from, body_from, path: own } of headers.reverse()) {
    const keys = [...path, name, ...own.slice(path.length)];
    renamed = splice(renamed, from, body_from, `[${keys.map(keyText).join(".")}]`);
  }
  const entry = entries.find((candidate) => samePath(candidate.path, path));
  if (!entry) return [renamed];
  const value = text.slice(entry.value_from, entry.value_to);
  return [splice(text, entry.value_from, entry.value_to, `{ ${keyText(name)} = ${value} }`)];
}

/** Returns a value as TOML on one line. */
function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (!isTree(value)) return JSON.stringify(value);
  const pairs = Object.entries(value as Tree).map(([key, inner]) => `${keyText(key)} = ${tomlOf(inner)}`);
  return pairs.length ? `{ ${pairs.join(", ")} }` : "{}";
}
