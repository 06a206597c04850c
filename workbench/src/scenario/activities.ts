/** Activities of a station: its downloads, uploads, calls and pings, with the fields of each activity. */

import type { Scenario } from "../engine/answers";
import { isTree, type Tree, valueAt } from "./edit";
import { type Field, fieldsOf, type Listed, tcp } from "./fields";
import type { Schema } from "./schema";
import { BARE, groupsOf } from "./shorthand";

/** An activity: a group of connections with a name, or all flows of one key such as `ping`. */
export interface Activity {
  /** Key path of the activity's value. */
  path: string[];
  title: string;
  /** Whether the text has the activity. Otherwise the only field adds it. */
  isPresent: boolean;
  /** Whether the activity is a group with a name. */
  isGroup: boolean;
  fields: Field[];
  /** Fields that are hidden at first unless the text has one of their keys. */
  more: Field[];
}

/** An activity that the form can add, with the keys that it writes. */
export interface Preset {
  title: string;
  key: "download" | "upload" | "ping";
  /** Name of the group; pings have no groups. */
  name: string;
  keys: Readonly<Record<string, string>>;
}

export const PRESETS: readonly Preset[] = [
  { title: "video, in chunks", key: "download", name: "video", keys: { size: '"2 MB"', every: '"4 s"' } },
  { title: "pages, at random times", key: "download", name: "pages", keys: { size: '"1.5 MB"', every: '"10 s"', arrivals: '"poisson"' } },
  { title: "download without a limit", key: "download", name: "file", keys: { connections: "1" } },
  { title: "download at a rate", key: "download", name: "live", keys: { rate: '"5 Mbps"' } },
  { title: "backup, an upload without a limit", key: "upload", name: "backup", keys: { connections: "1" } },
  { title: "camera, an upload at a rate", key: "upload", name: "camera", keys: { rate: '"2 Mbps"' } },
  { title: "upload with pauses", key: "upload", name: "work", keys: { on: '"2 s"', off: '"8 s"' } },
  { title: "pings", key: "ping", name: "", keys: { every: '"200 ms"' } },
];

type Label = readonly [key: string, label: string, without?: string];

const TIMES: readonly Label[] = [["start", "Start"], ["stop", "Stop", "never"]];
const CATEGORY: Label = ["category", "Access category"];
const CONNECTIONS: readonly Label[] = [
  ["size", "Amount of data"],
  ["every", "Time between chunks", "none"],
  ["rate", "Rate of the application", "no limit"],
];
const MORE_CONNECTIONS: readonly Label[] = [
  ["on", "Time on", "always"], ["off", "Time off", "none"], ["arrivals", "Distribution of times"],
  ["start", "Start"], ["start_spread", "Random delay of the start"], ["stop", "Stop", "never"], CATEGORY,
];
interface Kind {
  key: string;
  title: string;
  /** Label and default of the bare value. */
  count: string;
  bare: string;
  main: readonly Label[];
  more: readonly Label[];
}

/** Kinds of activities, in the order of the form. */
const KINDS: readonly Kind[] = [
  { key: "download", title: "Download", count: "Downloads per station", bare: "0", main: CONNECTIONS, more: MORE_CONNECTIONS },
  { key: "upload", title: "Upload", count: "Uploads per station", bare: "0", main: CONNECTIONS, more: MORE_CONNECTIONS },
  { key: "call", title: "Calls", count: "Calls per station", bare: "0", main: [], more: [["video", "Video"], ["control", "Rate of the video"], ["min_rate", "Lowest rate"], ["start_rate", "Rate at the start"], ["max_rate", "Highest rate"], ...TIMES, CATEGORY] },
  { key: "ping", title: "Pings", count: "Time between pings", bare: "none", main: [], more: [["size", "Payload"], ["deadline", "Lost after"], ...TIMES, CATEGORY] },
];

/** Returns the activities of a station, and a field for each kind of activity that the station does not have. */
export function activitiesOf(schema: Schema, tree: Tree, scenario: Scenario | null, station: string): Activity[] {
  return KINDS.flatMap(({ key, title, count, bare, main, more }) => {
    const path = ["station", station, key];
    const value = valueAt(tree, path);
    const listed = (at: readonly string[], labels: readonly Label[]): Field[] =>
      fieldsOf(labels.map((label) => entryOf(at, label, tree)), schema, tree, scenario);
    const others = (at: readonly string[]): Field[] => [
      ...listed(at, more),
      ...(main.length ? fieldsOf(tcp(at.join(".")), schema, tree, scenario) : []),
    ];
    const groups = groupsOf(value);
    if (groups.length > 0) {
      return groups.map((name): Activity => {
        const at = [...path, name];
        const own = listed(at, [["connections", "Connections"], ...main]);
        return { path: at, title: `${title} ${name}`, isPresent: true, isGroup: true, fields: own, more: others(at) };
      });
    }
    const isPresent = value !== undefined && value !== 0;
    const first: Field[] = isTree(value) ? listed(path, [[BARE[key]!, count]]) : listed(path.slice(0, -1), [[key, count, bare]]);
    // a call without a table has few settings, which are in its field
    const fields = isPresent && (isTree(value) || key !== "call") ? [...first, ...listed(path, main)] : first;
    return [{ path, title: title + (main.length ? "s" : ""), isPresent, isGroup: false, fields, more: isPresent ? others(path) : [] }];
  });
}

function entryOf(at: readonly string[], [key, label, without]: Label, tree: Tree): Listed {
  const isChunk = key === "size" && valueAt(tree, [...at, "every"]) !== undefined;
  // fields of a table are also shown if the table is a bare value, which an edit then replaces
  return { path: [...at, key].join("."), label: isChunk ? "Size of a chunk" : label, needs: "", ...(without ? { without } : {}) };
}

/** Returns the key path of a new activity. A number is appended to a name that another group has. */
export function freePath(tree: Tree, path: readonly string[], name: string): string[] {
  if (!name) return [...path];
  for (let number = 1; ; number += 1) {
    const own = [...path, number > 1 ? `${name}-${number}` : name];
    if (valueAt(tree, own) === undefined) return own;
  }
}
