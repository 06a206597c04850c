/** Writes overrides into the scenario text. */

import { parse } from "smol-toml";
import { edited, treeOf, valueAt } from "./edit";

/**
 * Writes the overrides `more` into a text as far as possible. Returns the new text, and the overrides that remain.
 *
 * An override remains if the text cannot contain it with the same meaning. This applies to an override whose value is a
 * table, to a key inside the key of another override, and to a key that is a table in the text.
 */
export function settled(
  text: string,
  more: readonly string[],
  over: readonly string[] = [],
): { text: string; over: string[] } {
  const keys = more.map(keyOf);
  const rest = over.filter((other) => !keys.includes(keyOf(other)));
  for (const setting of more) {
    const changed = rest.some((other) => areRelated(keyOf(other), keyOf(setting))) ? null : taken(text, setting);
    if (changed === null) rest.push(setting);
    else text = changed;
  }
  return { text, over: rest };
}

/** Returns the key path of an override. */
export function keyOf(setting: string): string {
  return setting.slice(0, setting.indexOf("=")).trim();
}

function areRelated(key: string, other: string): boolean {
  return `${key}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${key}.`);
}

function taken(text: string, setting: string): string | null {
  const key = keyOf(setting);
  const value = written(setting.slice(setting.indexOf("=") + 1).trim());
  const tree = treeOf(text);
  if (!tree || value === null || !/^[\w-]+(\.[\w-]+)*$/.test(key)) return null;
  const path = key.split(".");
  // A text that contains the key of a table also creates the table. An override must not create a table.
  const named = /^(?:station|csma\.link)\.[^.]+/.exec(key)?.[0].split(".");
  if ((named && valueAt(tree, named) === undefined) || typeof valueAt(tree, path) === "object") return null;
  return edited(text, path, value);
}

/**
 * Returns the value of an override in TOML. The value is parsed as `--set` parses it: as TOML, or else as a text.
 * Returns null for a table or a list.
 */
function written(value: string): string | null {
  try {
    return typeof parse(`value = ${value}`).value === "object" ? null : value;
  } catch {
    return JSON.stringify(value);
  }
}
