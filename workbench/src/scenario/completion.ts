/** Completions at a position in the scenario text: keys of a table, or values of a key. */

import { outline } from "./outline";
import { defaultOf, type Node, type Schema, unitsOf, wordsOf } from "./schema";

export interface Offer {
  label: string;
  /** Text to insert. */
  text: string;
  /** Default of the key, or the type of its value. */
  detail: string;
  description: string;
}

export interface Offers {
  /** Offset of the text that the completion replaces. */
  from: number;
  offers: Offer[];
}

/** Largest length of a default that is shown as detail. The description contains longer defaults. [characters] */
const LONGEST_DETAIL = 24;

/** Returns the completions at an offset of the scenario text, or null if there are none. */
export function offersAt(schema: Schema, text: string, at: number): Offers | null {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  if (/^[^"']*#/.test(line)) return null;
  const header = /^\s*\[\s*([A-Za-z0-9_.-]*)$/.exec(line);
  if (header) return keysAt(schema, [], header[1] ?? "", at, false);
  const table = tableAt(text, at);
  const value = /(?:^|[{,])\s*([A-Za-z0-9_.-]+)\s*=\s*("[^"]*|[A-Za-z0-9_.]*)$/.exec(line);
  if (value) return wordsAt(schema, [...table, ...(value[1] ?? "").split(".")], at - (value[2] ?? "").length);
  const key = /(?:^|[{,])\s*([A-Za-z0-9_.-]*)$/.exec(line);
  return key ? keysAt(schema, table, key[1] ?? "", at, true) : null;
}

/** Returns the path of the table at an offset. */
function tableAt(text: string, at: number): readonly string[] {
  const { tables } = outline(text);
  const around = tables.filter(({ kind, from, to, body_from }) =>
    kind === "inline" ? body_from <= at && at <= to && from < at : body_from <= at,
  );
  const inline = around.filter(({ kind }) => kind === "inline").at(-1);
  return (inline ?? around.at(-1))?.path ?? [];
}

function keysAt(
  schema: Schema,
  table: readonly string[],
  typed: string,
  at: number,
  withValue: boolean,
): Offers | null {
  const before = typed.split(".").slice(0, -1);
  const node = schema.at([...table, ...before]);
  const inside = node && schema.table(node);
  if (!inside?.properties) return null;
  const offers = Object.entries(inside.properties).flatMap(([key, raw]) => {
    const own = schema.resolved(raw);
    if (!withValue && !schema.table(own)) return [];
    const held = defaultOf(own);
    const detail = held !== null && held.length <= LONGEST_DETAIL ? held : kindOf(schema, own);
    return [{ label: key, text: withValue ? pairOf(schema, own, key) : key, detail, description: own.description ?? "" }];
  });
  return { from: at - (typed.length - (before.length ? before.join(".").length + 1 : 0)), offers };
}

/** Returns a key with the beginning of its value. */
function pairOf(schema: Schema, node: Node, key: string): string {
  return schema.scalars(node).length ? `${key} = ` : key;
}

function kindOf(schema: Schema, node: Node): string {
  const [first] = schema.variants(node);
  if (!first) return "";
  const units = unitsOf(first);
  if (units.length) return `in ${units.join(", ")}`;
  return first.type === "object" ? "table" : (first.type ?? "");
}

function wordsAt(schema: Schema, path: readonly string[], from: number): Offers | null {
  const node = schema.at(path);
  if (!node) return null;
  const description = node.description ?? "";
  const offers = schema.scalars(node).flatMap((scalar) => {
    const words = scalar.type === "boolean" ? ["true", "false"] : wordsOf(scalar).map((word) => JSON.stringify(word));
    return words.map((word) => ({ label: word, text: word, detail: "", description }));
  });
  const fallback = defaultOf(node);
  if (!offers.length && fallback) {
    const isText = schema.scalars(node).some(({ type }) => type === "string");
    const text = isText ? JSON.stringify(fallback) : fallback;
    if (isText || /^[-\d.e]+$/.test(fallback)) {
      offers.push({ label: text, text, detail: "default", description });
    }
  }
  return offers.length ? { from, offers } : null;
}
