/** Settings written into the text that they lie over. */

import { parse } from "smol-toml";
import { edited, treeOf, valueAt } from "./edit";

/**
 * A text with more settings in it, and what still lies over it.
 *
 * A setting stays over the text where that cannot take it and say the same: tables, what stands under another
 * one that stays, values of a table that is written out.
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

/** The key path of a setting. */
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
  // A text makes what it names; a setting must not.
  const named = /^(?:station|csma\.link)\.[^.]+/.exec(key)?.[0].split(".");
  if ((named && valueAt(tree, named) === undefined) || typeof valueAt(tree, path) === "object") return null;
  return edited(text, path, value);
}

/** A value as TOML writes it, read as `--set` reads it: as TOML, else as a text; null where it is no single one. */
function written(value: string): string | null {
  try {
    return typeof parse(`value = ${value}`).value === "object" ? null : value;
  } catch {
    return JSON.stringify(value);
  }
}
