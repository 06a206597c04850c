/** Settings that are written into the text. */

import { parse } from "smol-toml";
import { edited, treeOf, valueAt } from "./edit";

/**
 * Returns a text that includes more settings, and the settings that still override it.
 *
 * A setting remains an override if the text cannot include it with the same meaning: tables, keys below another
 * override, and values of a table in the text.
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

/** Returns the key path of a setting. */
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
  // A text defines the tables that it names. A setting must not define a table.
  const named = /^(?:station|csma\.link)\.[^.]+/.exec(key)?.[0].split(".");
  if ((named && valueAt(tree, named) === undefined) || typeof valueAt(tree, path) === "object") return null;
  return edited(text, path, value);
}

/** Returns a value in TOML, read like `--set`: as TOML, otherwise as a text; null for a table or a list. */
function written(value: string): string | null {
  try {
    return typeof parse(`value = ${value}`).value === "object" ? null : value;
  } catch {
    return JSON.stringify(value);
  }
}
