/** Tests that the page's schema has the keys of simulations, and no table of an extension. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { simulations } from "../schema.mjs";

const all = JSON.parse(readFileSync("../crates/engine/tests/frozen/schema.json", "utf8"));
const page = simulations(all) as typeof all;

test("tables that simulations ignore are absent, with their definitions", () => {
  const without = (of: "properties" | "$defs") => Object.keys(all[of]).filter((key) => !(key in page[of]));
  assert.deepEqual(without("properties"), ["gateway", "interface"]);
  assert.ok(without("$defs").includes("interface.class"));
});

test("all other keys are as in the schema of the command line", () => {
  for (const [key, node] of Object.entries(page.properties)) assert.deepEqual(node, all.properties[key]);
  const refs = [...JSON.stringify(page).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name ?? "");
  assert.ok(refs.length > 50);
  assert.deepEqual(refs.filter((name) => !(name in page.$defs)), []);
});
