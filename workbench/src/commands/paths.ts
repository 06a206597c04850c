/** Key paths that a sweep can vary. Suggested paths come first. */

import { isTree, type Tree, treeOf, valueAt } from "../scenario/edit";
import type { Node, Schema } from "../scenario/schema";

const DEEPEST = 6;

/** Suggested key paths, each with values and the table that must be present. */
const OFFERS: [path: string, values: string, needs: string][] = [
  ["cell.ap.cwmin", "7,15,31,63", "cell"],
  ["cell.ap_queue", "25,50,100,200", "cell"],
  ["cell.aggregation.mpdus", "1,8,64,256", "cell.aggregation"],
  ["dumbbell.flows", "10,20,40,80", "dumbbell"],
  ["queue", "25,50,100,200", "queue"],
  ["queue.red.max_p", "0.02..0.5 log 5", "queue.red"],
  ["queue.threshold", "10,15,30,60", "queue.threshold"],
  ["csma.queue", "10,50,200,1000", "csma"],
  ["tcp.window", "8..64 log 4", "tcp"],
];

export interface Offer {
  path: string;
  values: string;
}

/** Returns the suggestions that apply to a scenario text. */
export function offersOf(text: string): Offer[] {
  const tree = treeOf(text) ?? {};
  const at = (path: string) => valueAt(tree, path.split("."));
  const stations = isTree(tree.station) ? Object.keys(tree.station) : [];
  const counts = stations.filter((name) => isPlain(name) && at(`station.${name}.count`) !== undefined);
  return [
    ...OFFERS.filter(([path, , needs]) => at(needs) !== undefined && !isTree(at(path))),
    ...counts.map((name): [string, string] => [`station.${name}.count`, "1,2,4,8"]),
  ].map(([path, values]) => ({ path, values }));
}

/** Returns all key paths of the schema. Where a path contains a free name, the names in the scenario text are used. */
export function pathsOf(schema: Schema, text: string): string[] {
  const tree = treeOf(text) ?? {};
  const paths = new Set<string>();
  const root = schema.at([]);
  if (root) collect(schema, root, tree, [], paths);
  return [...paths];
}

function collect(schema: Schema, node: Node, tree: unknown, path: readonly string[], paths: Set<string>): void {
  if (path.length && schema.scalars(node).length) paths.add(path.join("."));
  const table = schema.table(node);
  if (!table || path.length >= DEEPEST) return;
  const own: Tree = isTree(tree) ? tree : {};
  const { additionalProperties: other } = table;
  const named = typeof other === "object" ? Object.keys(own).filter((key) => isPlain(key) && !table.properties?.[key]) : [];
  for (const key of [...Object.keys(table.properties ?? {}), ...named]) {
    const next = table.properties?.[key] ?? (other as Node);
    collect(schema, schema.resolved(next), Object.hasOwn(own, key) ? own[key] : undefined, [...path, key], paths);
  }
}

/** Returns whether a key needs no quotes in a path. */
function isPlain(key: string): boolean {
  return /^[\w-]+$/.test(key);
}
