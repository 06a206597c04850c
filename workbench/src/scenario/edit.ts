/** Edits of a single value in a scenario text. Comments and layout stay unchanged. */

import { parse } from "smol-toml";
import { isJson } from "../engine/engine";
import { type Entry, outline, samePath, startsWith, type Table } from "./outline";

/** Tree of the values in a scenario text. */
export type Tree = Record<string, unknown>;

/** TOML text of a value, or null to remove the value so that the default applies. */
export type Written = string | null;

/** Parses a scenario text. Returns null if the text has a syntax error. */
export function treeOf(text: string): Tree | null {
  try {
    return (isJson(text) ? JSON.parse(text) : parse(text)) as Tree;
  } catch {
    return null;
  }
}

/** Returns the value at a key path of a tree, or undefined if there is none. */
export function valueAt(tree: Tree, path: readonly string[]): unknown {
  let value: unknown = tree;
  for (const key of path) {
    if (!isTree(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the text with the TOML `value` at a key path, or without the key if `value` is null.
 *
 * Returns null if every possible edit would also change another value.
 */
export function edited(text: string, path: readonly string[], value: Written): string | null {
  const before = treeOf(text);
  if (!before || path.length === 0) return null;
  const wanted = structuredClone(before);
  if (!place(wanted, path, value === null ? undefined : parse(`value = ${value}`).value)) return null;
  if (isJson(text)) return `${JSON.stringify(wanted, null, 2)}\n`;
  // If the removed key was the last dotted key of a table, the table does not exist any more.
  const without = value === null ? prune(structuredClone(wanted), path) : wanted;
  const isWanted = (changed: string) => {
    const after = treeOf(changed);
    return after !== null && (same(after, wanted) || same(after, without));
  };
  for (const changed of value === null ? removals(text, path) : writings(text, path, value)) {
    if (isWanted(changed)) return changed;
  }
  for (const changed of value === null ? [] : replacements(text, path, value)) {
    if (isWanted(changed)) return changed;
  }
  return null;
}

/** Yields versions of the text in which the key at `path` has the value, the version with the fewest changes first. */
function* writings(text: string, path: readonly string[], value: string): Generator<string> {
  const { entries, tables } = outline(text);
  const entry = entries.find((entry) => samePath(entry.path, path));
  if (entry) yield splice(text, entry.value_from, entry.value_to, value);
  else yield* insertions(text, path, value, entries, tables);
}

function* insertions(
  text: string,
  path: readonly string[],
  value: string,
  entries: Entry[],
  tables: Table[],
): Generator<string> {
  // The key is inserted next to keys with a common prefix, in the table with the longest common path.
  const nearby = entries
    .map((entry) => ({ entry, common: commonLength(entry.path, path) }))
    .filter(({ common, entry }) => common > entry.table.path.length)
    .sort((candidate, other) => other.common - candidate.common);
  const holders = tables
    .filter((table) => startsWith(path, table.path) && table.path.length < path.length)
    .sort((table, other) => other.path.length - table.path.length);
  const [first] = nearby;
  const [holder] = holders;
  if (first && first.common > (holder?.path.length ?? 0)) {
    yield into(text, first.entry.table, path, value, first.entry);
  }
  for (const table of holders) yield into(text, table, path, value);
  const header = `[${path.slice(0, -1).map(keyText).join(".")}]`;
  const line = `${keyText(path.at(-1) as string)} = ${value}`;
  const parent = path.slice(0, -1);
  const below = tables.find((table) => table.kind === "header" && startsWith(table.path, parent));
  if (below) yield splice(text, below.from, below.from, `${header}\n${line}\n\n`);
  yield `${text.trimEnd()}\n\n${header}\n${line}\n`;
}

/** Yields versions of the text in which the value replaces a table of several lines. */
function* replacements(text: string, path: readonly string[], value: string): Generator<string> {
  for (const without of removals(text, path)) yield* writings(without, path, value);
}

/**
 * Returns the text with an additional table in the style of its sibling tables: on one line, or below a header.
 *
 * Returns null if the text has a syntax error or already contains the table.
 */
export function withTable(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string | null {
  const before = treeOf(text);
  if (!before || path.length === 0 || valueAt(before, path) !== undefined) return null;
  const pairs = Object.entries(values).map(([key, value]) => `${keyText(key)} = ${value}`);
  const wanted = structuredClone(before);
  if (!place(wanted, path, parse(pairs.join("\n")))) return null;
  if (isJson(text)) return `${JSON.stringify(wanted, null, 2)}\n`;
  const parent = path.slice(0, -1);
  const { entries, tables } = outline(text);
  const inline = `{ ${pairs.join(", ")} }`;
  const block = [`[${path.map(keyText).join(".")}]`, ...pairs, ""].join("\n");
  const candidates: string[] = [];
  const isSister = (own: readonly string[]) => own.length === path.length && startsWith(own, parent);
  const sister = entries.findLast((entry) => entry.table.kind !== "inline" && isSister(entry.path));
  if (sister) candidates.push(into(text, sister.table, path, inline, sister));
  // below the last table of the same parent, or else of a table above it, such as the station of a group
  for (let length = parent.length; length >= Math.min(2, parent.length); length -= 1) {
    const above = parent.slice(0, length);
    const header = tables.findLast((table) => table.kind === "header" && startsWith(table.path, above));
    if (!header) continue;
    const end = lineEndOf(text, header.to);
    candidates.push(splice(text, end, end, `\n\n${block.trimEnd()}`));
  }
  // a parent on one line is extended on this line
  if (path.length > 2) for (const changed of writings(text, path, inline)) candidates.push(changed);
  candidates.push(`${text.trimEnd()}\n\n${block}`.trimStart());
  return candidates.find((changed) => same(treeOf(changed), wanted)) ?? null;
}

/** Returns the text with an additional key in a table, after the given entry or after the last entry. */
function into(
  text: string,
  table: Table,
  path: readonly string[],
  value: string,
  behind?: Entry,
): string {
  const pair = `${path.slice(table.path.length).map(keyText).join(".")} = ${value}`;
  if (table.kind === "inline") {
    const inside = text.slice(table.body_from, table.to).trimEnd();
    if (inside.trim() === "") return splice(text, table.body_from, table.to, ` ${pair} `);
    const end = table.body_from + inside.length;
    return splice(text, end, end, `${inside.endsWith(",") ? "" : ","} ${pair}`);
  }
  const last = behind?.value_to ?? table.to;
  if (table.kind === "root" && last === 0) return `${pair}\n${text}`;
  const lineEnd = text.indexOf("\n", last);
  const end = lineEnd < 0 ? text.length : lineEnd;
  return splice(text, end, end, `\n${pair}`);
}

function* removals(text: string, path: readonly string[]): Generator<string> {
  const { entries, tables } = outline(text);
  const spans: [number, number][] = [];
  for (const entry of entries) {
    const within = startsWith(entry.path, path) && entry.path.length >= path.length;
    if (within && !startsWith(entry.table.path, path)) spans.push(spanOf(text, entry));
  }
  for (const table of tables) {
    if (table.kind === "header" && startsWith(table.path, path)) {
      const end = lineEndOf(text, table.to);
      spans.push([table.from, end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0)]);
    }
  }
  if (!spans.length) return;
  let changed = text;
  for (const [from, to] of spans.sort((span, other) => other[0] - span[0])) {
    changed = splice(changed, from, to, "");
  }
  yield changed;
}

/** Returns the range of text to remove with a key: its line, or its part of an inline table. */
function spanOf(text: string, entry: Entry): [number, number] {
  if (entry.table.kind !== "inline") {
    return [lineBeginOf(text, entry.key_from), Math.min(text.length, lineEndOf(text, entry.value_to) + 1)];
  }
  const behind = /^\s*,\s*/.exec(text.slice(entry.value_to, entry.table.to));
  if (behind) return [entry.key_from, entry.value_to + behind[0].length];
  const before = /\s*,\s*$/.exec(text.slice(entry.table.body_from, entry.key_from));
  return [entry.key_from - (before?.[0].length ?? 0), entry.value_to];
}

function lineBeginOf(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEndOf(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

export function splice(text: string, from: number, to: number, put: string): string {
  return text.slice(0, from) + put + text.slice(to);
}

function commonLength(path: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < path.length && length < other.length && path[length] === other[length]) length += 1;
  return length;
}

export function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Sets a value in a tree. Returns false if a value that is not a table is on the path. */
export function place(tree: Tree, path: readonly string[], value: unknown): boolean {
  let table = tree;
  for (const key of path.slice(0, -1)) {
    if (!Object.hasOwn(table, key)) table[key] = {};
    const next = table[key];
    if (!isTree(next)) return false;
    table = next;
  }
  const last = path.at(-1) as string;
  if (value === undefined) delete table[last];
  else table[last] = value;
  return true;
}

/** Removes the empty tables on a key path. */
function prune(tree: Tree, path: readonly string[]): Tree {
  for (let length = path.length - 1; length > 0; length -= 1) {
    const table = valueAt(tree, path.slice(0, length));
    if (!isTree(table) || Object.keys(table).length > 0) break;
    place(tree, path.slice(0, length), undefined);
  }
  return tree;
}

export function same(value: unknown, other: unknown): boolean {
  if (isTree(value) && isTree(other)) {
    const keys = Object.keys(value);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && same(value[key], other[key]))
    );
  }
  if (Array.isArray(value) && Array.isArray(other)) {
    return value.length === other.length && value.every((value, at) => same(value, other[at]));
  }
  if (value instanceof Date && other instanceof Date) return value.getTime() === other.getTime();
  return Object.is(value, other);
}
