/** Fields of the form: key paths and labels. The widgets follow from the schema and the scenario text. */

import type { Scenario } from "../engine/answers";
import { isTree, type Tree, valueAt } from "./edit";
import { inWords } from "./quantity";
import { type Node, type Schema, unitsOf, wordsOf } from "./schema";

export interface Listed {
  /** Key path, in which `*` stands for each name in the scenario text. */
  path: string;
  label: string;
  /** Key without which the field is not shown. The default is the table that contains the key path. */
  needs?: string;
  /** Whether the field is shown only if the text contains its key. */
  present?: true;
  /** Condition: the field is shown only if the key at `path` is missing or has one of `values`. */
  only?: readonly [path: string, ...values: unknown[]];
  /** Condition: the field is shown if the text has its key, or if the key at `path` has one of `values`. */
  when?: readonly [path: string, ...values: unknown[]];
  /** Default of the key, if the schema has it only in a sentence. */
  without?: string;
  /** Values of the slider's steps. */
  steps?: readonly number[];
}

const WINDOWS = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023] as const;
const ROOT = "";
const ADAPTIVE = ["csma.access", "adaptive"] as const;
/** Values of `only` for two sets of PHYs: the data rate follows from the SNR (`BY_SIGNAL`) or is set (`BY_RATE`). */
const BY_SIGNAL = ["cell.phy", "802.11n", "802.11ac", "802.11ax"] as const;
const BY_RATE = ["cell.phy", "802.11b", "802.11g", "802.11g-long", "802.11a"] as const;

/** Pseudo-key for the discipline of a queue, which has no key of its own. */
export const DISCIPLINE = "(discipline)";
/** TOML table of settings that the form writes for each queue discipline. */
const DISCIPLINES: Record<string, string> = {
  fq_codel: "{}",
  cake: "{}",
  mac80211: "{}",
  codel: "{}",
  pie: "{}",
  dualpi2: "{}",
  red: "{ min_th = 50, max_th = 150 }",
};
export const DROP_TAIL = "drop-tail";

/** Returns a queue with this discipline as TOML, or null for the default queue. */
export function queueWith(discipline: string): string | null {
  return discipline === DROP_TAIL ? null : `{ ${discipline} = ${DISCIPLINES[discipline] ?? "{}"} }`;
}

/** Returns the fields of a queue, whose key path is `path`. */
function queue(path: string, label: string, needs?: string): Listed[] {
  return [
    { path: `${path}.${DISCIPLINE}`, label: `${label}: discipline`, needs: needs ?? path.split(".").slice(0, -1).join(".") },
    { path, label: `${label}: limit`, ...(needs ? { needs } : {}) },
    { path: `${path}.limit`, label: `${label}: limit` },
    { path: `${path}.threshold`, label: "Threshold", present: true },
    { path: `${path}.red.min_th`, label: "RED: lower threshold" },
    { path: `${path}.red.max_th`, label: "RED: upper threshold" },
    { path: `${path}.red.max_p`, label: "RED: drop probability" },
    { path: `${path}.red.weight`, label: "RED: weight of the average" },
    { path: `${path}.codel`, label: "CoDel: target", present: true },
    { path: `${path}.pie`, label: "PIE: target", present: true },
    { path: `${path}.dualpi2`, label: "DualPI2: target", present: true },
    { path: `${path}.pi`, label: "PI: target", present: true },
    { path: `${path}.pi.target`, label: "PI: target" },
    { path: `${path}.vbs.occupancy`, label: "VBS: target occupancy" },
  ];
}

/** Returns the fields of TCP settings, whose key path is `path`. */
export function tcp(path: string): Listed[] {
  const own = (key: string, label: string): Listed => ({ path: `${path}.${key}`, label, needs: ROOT });
  const of = (control: string) => (key: string, label: string): Listed =>
    ({ ...own(`${control}.${key}`, label), when: [`${path}.congestion`, control] });
  const [bbr, bbr3] = [of("bbr"), of("bbr3")];
  return [
    own("congestion", "Congestion control"),
    bbr("ack_aggregation", "BBR: allowance for ACK aggregation"),
    bbr("policer", "BBR: policer detection"),
    bbr("hz", "BBR: ticks per second"),
    bbr3("loss_threshold", "BBR v3: loss that ends a probe"),
    bbr3("suspension", "BBR v3: rule for suspended radios"),
    own("pacing", "Pacing"),
    own("after_idle", "Window after idle time"),
    own("ecn", "ECN"),
    { ...own("abe", "Back-off of ECN (ABE)"), when: [`${path}.ecn`, true] },
  ];
}

/** Groups of fields, in the order of the form. */
const LISTED: readonly [string, readonly Listed[]][] = [
  ["Run", [
    { path: "duration", label: "Duration", needs: ROOT },
    { path: "warmup", label: "Warm-up", needs: ROOT },
    { path: "replications", label: "Replications", needs: ROOT },
    { path: "seed", label: "Seed", needs: ROOT },
  ]],
  ["Cell", [
    { path: "cell.phy", label: "Standard" },
    { path: "cell.rate", label: "Rate", present: true },
    { path: "cell.width", label: "Channel width", present: true },
    { path: "cell.streams", label: "Spatial streams", present: true },
    { path: "cell.rts_threshold", label: "RTS threshold" },
    { path: "cell.aggregation.mpdus", label: "MPDUs per aggregate" },
    { path: "cell.cwmin", label: "CWmin of all nodes", present: true, steps: WINDOWS },
  ]],
  ["Access point", [
    ...queue("cell.ap_queue", "Queue"),
    ...queue("cell.ap.queue", "Queue").filter(({ path }) => path.startsWith("cell.ap.queue.") && !path.endsWith(DISCIPLINE)),
    { path: "cell.ap.cwmin", label: "CWmin", needs: "cell", steps: WINDOWS },
    { path: "cell.ap.cwmax", label: "CWmax", present: true, steps: WINDOWS },
    { path: "cell.ap.aifsn", label: "AIFSN", needs: "cell" },
    { path: "cell.ap.txop_packets", label: "Frames per TXOP", needs: "cell" },
    { path: "vsb", label: "Virtual shared bottleneck", needs: "cell" },
    { path: "vsb.fairness", label: "Shared equally" },
  ]],
  ["Line", [
    { path: "wire.rate", label: "Downlink rate", needs: "cell" },
    { path: "wire.back_rate", label: "Uplink rate", needs: "cell", without: "as downlink" },
    { path: "wire.delay", label: "One-way delay", needs: "cell" },
    { path: "wire.loss", label: "Loss", needs: "cell" },
    ...queue("wire.queue", "Queue", "cell"),
    ...queue("wire.back_queue", "Uplink queue", "wire.back_queue"),
  ]],
  ["Station *", [
    { path: "station.*.count", label: "Stations", without: "1" },
    { path: "station.*.udp_down", label: "UDP downlink", present: true },
    { path: "station.*.udp_up", label: "UDP uplink", present: true },
    { path: "station.*.snr", label: "Signal-to-noise ratio", only: BY_SIGNAL },
    { path: "station.*.rate", label: "Rate", only: BY_RATE },
    { path: "station.*.rate", label: "Rate", present: true, only: BY_SIGNAL },
    { path: "station.*.mcs", label: "MCS", present: true },
    { path: "station.*.error_down", label: "Frame loss, downlink" },
    { path: "station.*.error_up", label: "Frame loss, uplink" },
    { path: "station.*.tcp.window", label: "TCP window", present: true },
    ...tcp("station.*.tcp").map((field) => ({ ...field, label: `TCP: ${field.label}`, present: true as const })),
    { path: "station.*.cwmin", label: "CWmin", steps: WINDOWS },
    { path: "station.*.aifsn", label: "AIFSN", present: true },
    { path: "station.*.txop_packets", label: "Frames per TXOP" },
  ]],
  ["TCP", [
    ...tcp("tcp"),
    { path: "tcp.window", label: "Receive window", needs: ROOT },
    { path: "tcp.delayed_ack", label: "Delayed ACKs", needs: ROOT },
    { path: "tcp.min_rto", label: "Minimum RTO", present: true },
  ]],
  ["Router", [
    { path: "dumbbell.flows", label: "Flows" },
    { path: "dumbbell.bottleneck", label: "Bottleneck rate" },
    { path: "dumbbell.rtt", label: "Round-trip time" },
    { path: "dumbbell.access", label: "Rate of the access links" },
    { path: "parking_lot.hops", label: "Hops" },
    { path: "parking_lot.flows", label: "Flows over all hops" },
    { path: "parking_lot.cross", label: "Flows over one hop" },
    { path: "parking_lot.bottleneck", label: "Bottleneck rate" },
    { path: "parking_lot.rtt", label: "Round-trip time" },
    ...queue("queue", "Queue"),
  ]],
  ["Conflict graph", [
    { path: "csma.access", label: "Access" },
    { path: "csma.connections", label: "Connections", only: ADAPTIVE },
    { path: "csma.k", label: "k: connections per second of round-trip time", only: ADAPTIVE },
    { path: "csma.beta", label: "beta: influence of the queues", only: ADAPTIVE },
    { path: "csma.queue", label: "Queue of each link" },
    { path: "csma.aqm", label: "AQM", only: ADAPTIVE },
  ]],
];

export type Widget =
  | { kind: "choice"; words: string[] }
  | { kind: "yes" }
  /** A checkbox for a table that is present or missing. */
  | { kind: "table" }
  /** A choice of the queue discipline. */
  | { kind: "discipline"; words: string[] }
  /** A number of calls, or one of `words`, which is for calls without video. */
  | { kind: "call"; words: string[] }
  | { kind: "number"; least?: number; most?: number; isWhole: boolean; steps?: readonly number[]; isSlider: boolean }
  | { kind: "quantity"; units: string[]; words: string[] };

export interface Field {
  path: string[];
  label: string;
  description: string;
  widget: Widget;
  /** Value in the text, or undefined if the key is missing. */
  value: unknown;
  /** Default of the key. */
  without: string;
}

export interface Group {
  title: string;
  /** Name of the station, for a group of fields of one station. */
  station?: string;
  fields: Field[];
}

/** Returns the groups of fields that apply to a scenario text. */
export function formOf(schema: Schema, tree: Tree, scenario: Scenario | null): Group[] {
  return LISTED.flatMap(([title, listed]) => {
    if (!title.endsWith("*")) return [{ title, fields: fieldsOf(listed, schema, tree, scenario) }];
    const names = isTree(tree.station) ? Object.keys(tree.station) : [];
    return names.map((name) => {
      const own = listed.map((field) => ({ ...field, path: field.path.replace("*", name) }));
      return { title: `Station ${name}`, station: name, fields: fieldsOf(own, schema, tree, scenario) };
    });
  }).filter(({ fields }) => fields.length > 0);
}

/** Returns the fields that apply to a scenario text. */
export function fieldsOf(listed: readonly Listed[], schema: Schema, tree: Tree, scenario: Scenario | null): Field[] {
  return listed.flatMap((entry) => {
    const path = entry.path.split(".");
    if (!applies(entry, path, tree)) return [];
    if (path.at(-1) === DISCIPLINE) return disciplineOf(entry, path, schema, tree);
    const node = schema.at(path);
    const value = valueAt(tree, path);
    const widget = node && widgetOf(schema, node, value, entry.steps);
    if (!node || !widget) return [];
    const { label } = entry;
    const description = node.description ?? "";
    const held = entry.without ?? without(schema, node, path, scenario);
    return [{ path, label, description, widget, value, without: held }];
  });
}

function disciplineOf(entry: Listed, path: string[], schema: Schema, tree: Tree): Field[] {
  const of = path.slice(0, -1);
  // If the text has `cell.ap.queue`, the form does not show `cell.ap_queue`.
  if (entry.path.startsWith("cell.ap_queue") && valueAt(tree, ["cell", "ap", "queue"]) !== undefined) return [];
  const node = schema.at(of);
  const table = node && schema.table(node);
  if (!node || !table) return [];
  const known = Object.keys(DISCIPLINES).filter((name) => table.properties?.[name]);
  const value = valueAt(tree, of);
  const own = isTree(value) ? Object.keys(value).find((key) => key !== "limit") : undefined;
  const words = [DROP_TAIL, ...known, ...(own && !known.includes(own) ? [own] : [])];
  return [{
    path, label: entry.label, description: node.description ?? "", widget: { kind: "discipline", words },
    value: own ?? DROP_TAIL, without: DROP_TAIL,
  }];
}

function applies(entry: Listed, path: readonly string[], tree: Tree): boolean {
  if (entry.only) {
    const [key, ...values] = entry.only;
    if (![undefined, ...values].includes(valueAt(tree, key.split(".")))) return false;
  }
  if (entry.present) return valueAt(tree, path) !== undefined;
  if (entry.when) {
    const [key, ...values] = entry.when;
    return valueAt(tree, path) !== undefined || values.includes(valueAt(tree, key.split(".")));
  }
  // If the text has `cell.ap.queue`, the form does not show `cell.ap_queue`.
  if (entry.path === "cell.ap_queue" && valueAt(tree, ["cell", "ap", "queue"]) !== undefined) return false;
  const needed = entry.needs === undefined ? path.slice(0, -1) : entry.needs.split(".").filter(Boolean);
  if (entry.path === "queue" || entry.path === `queue.${DISCIPLINE}`) return isTree(tree.dumbbell) || isTree(tree.parking_lot);
  return isTree(valueAt(tree, needed));
}

function widgetOf(schema: Schema, node: Node, value: unknown, steps?: readonly number[]): Widget | null {
  const scalars = schema.scalars(node);
  if (isTree(value) ? scalars.length > 0 : !scalars.length) {
    const need = schema.table(node) as { required?: string[] } | null;
    return scalars.length || need?.required ? null : { kind: "table" };
  }
  if (isTree(value)) return { kind: "table" };
  const [scalar] = scalars;
  if (!scalar) return null;
  const words = scalars.flatMap((each) => each.enum ?? []);
  if (words.length && scalars.some(({ type }) => type === "integer")) return { kind: "call", words };
  if (scalar.enum) return { kind: "choice", words: scalar.enum };
  if (scalar.type === "boolean") return { kind: "yes" };
  if (scalar.type === "string") {
    const units = unitsOf(scalar);
    return units.length ? { kind: "quantity", units, words: wordsOf(scalar) } : null;
  }
  if (scalar.type !== "integer" && scalar.type !== "number") return null;
  const most = scalar.maximum ?? scalar.exclusiveMaximum;
  return {
    kind: "number",
    isWhole: scalar.type === "integer",
    isSlider: steps !== undefined || (most !== undefined && most <= 32),
    ...(scalar.minimum === undefined ? {} : { least: scalar.minimum }),
    ...(most === undefined ? {} : { most }),
    ...(steps ? { steps } : {}),
  };
}

/** Returns the default of a key, from the checked scenario or else from the schema. */
function without(schema: Schema, node: Node, path: readonly string[], scenario: Scenario | null): string {
  const present = scenario && effective(scenario, path);
  if (present) return present;
  const text = [node, ...schema.scalars(node)].find((scalar) => scalar.default !== undefined)?.default;
  if (text !== undefined) return typeof text === "string" ? text : JSON.stringify(text);
  // A default that needs a sentence exists only in the description.
  return /Default: "?([^.;,"]{1,12})"?\.$/.exec(node.description ?? "")?.[1] ?? "default";
}

const SUFFIXES = ["packets", "", "s", "bps", "bytes"];

/** Returns the value of a key in the checked scenario. */
function effective(scenario: Scenario, path: readonly string[]): string | null {
  const key = path.at(-1) as string;
  if (path[0] === "cell" && path[1] === "ap_queue" && path.length === 2) return effective(scenario, ["cell", "ap", "queue"]);
  if (path[0] !== "station") return written(valueAt(scenario, path.slice(0, -1)), key);
  const station = tablesOf(scenario.stations).find(({ group, name }) => (group ?? name) === path[1]);
  if (path.length === 3 || !DIRECTIONS[path[2] ?? ""]) return station ? written(valueAt(station, path.slice(2, -1)), key) : null;
  const flow = flowOf(scenario, path);
  return [flow, flow?.tcp, flow?.ping].reduce<string | null>((value, table) => value ?? written(table, key), null);
}

/** Keys of stations with flows, and the word for each key in the names of its flows. */
const DIRECTIONS: Readonly<Record<string, string>> = { download: "down", upload: "up", ping: "ping" };

/** Returns the first flow of an activity, such as `["station", "laptop", "download", "video", "ecn"]`. */
function flowOf(scenario: Scenario, path: readonly string[]): Tree | undefined {
  const [, station, key = "", group] = path;
  const name = [DIRECTIONS[key], ...(path.length > 4 ? [group] : []), "1"].join("/");
  return tablesOf(scenario.flows).find((flow) => flow.class === station && String(flow.name).endsWith(`/${name}`));
}

function tablesOf(list: unknown): Tree[] {
  return Array.isArray(list) ? list.filter(isTree) : [];
}

/** Returns a value of a table of the checked scenario, whose keys may end with a unit. */
function written(table: unknown, key: string): string | null {
  if (!isTree(table)) return null;
  for (const unit of SUFFIXES) {
    const value = table[unit ? `${key}_${unit}` : key];
    if (typeof value === "number") return inWords(value, unit);
    if (typeof value === "string" || typeof value === "boolean") return String(value);
  }
  return null;
}
