/** Tests that the form shows the fields that apply to a text, with the widgets that the schema requires. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { offersAt } from "../src/scenario/completion";
import { activitiesOf } from "../src/scenario/activities";
import { treeOf, type Tree } from "../src/scenario/edit";
import { formOf, queueWith } from "../src/scenario/fields";
import { inWords, quantityOf } from "../src/scenario/quantity";
import { defaultOf, Schema, unitsOf, wordsOf } from "../src/scenario/schema";

const schema = new Schema(JSON.parse(readFileSync("../crates/engine/tests/frozen/schema.json", "utf8")));

function fields(text: string) {
  const tree = treeOf(text) as Tree;
  const groups = formOf(schema, tree, null);
  const activities = groups.flatMap(({ station }) => (station ? activitiesOf(schema, tree, null, station) : []));
  const all = [...groups.flatMap((group) => group.fields), ...activities.flatMap(({ fields, more }) => [...fields, ...more])];
  return new Map(all.map((field) => [field.path.join("."), field]));
}

test("fields without a table in the text are not shown", () => {
  const cell = fields('duration = "9 s"\ncell = { phy = "802.11b" }\nstation.a = { download = 1 }\n');
  assert.ok(cell.has("cell.ap.cwmin") && cell.has("station.a.download") && cell.has("vsb"));
  assert.ok(!cell.has("dumbbell.flows") && !cell.has("queue") && !cell.has("csma.k"));
  const router = fields('dumbbell = { bottleneck = "9 Mbps" }\nqueue = { red = { min_th = 1, max_th = 2 } }\n');
  assert.ok(router.has("queue.red.min_th") && router.has("queue.limit") && !router.has("queue"));
  assert.ok(!router.has("vsb") && !router.has("cell.phy"));
});

test("keys of adaptive access are shown where access is adaptive", () => {
  assert.ok(fields("csma.link.1 = {}").has("csma.k"));
  assert.ok(!fields('csma = { access = "dcf", link.1 = {} }').has("csma.k"));
});

test("widgets follow from the schema", () => {
  const shown = fields('cell = { phy = "802.11b" }\nvsb = {}\nstation.a = { error_down = 0.1 }\n');
  const kind = (path: string) => shown.get(path)?.widget.kind;
  assert.equal(kind("duration"), "quantity");
  assert.equal(kind("tcp.congestion"), "choice");
  assert.equal(kind("tcp.delayed_ack"), "yes");
  assert.equal(kind("vsb"), "table");
  assert.equal(kind("station.a.error_down"), "number");
  const errors = shown.get("station.a.error_down")?.widget;
  assert.ok(errors?.kind === "number" && errors.isSlider && !errors.isWhole);
  const seed = shown.get("seed")?.widget;
  assert.ok(seed?.kind === "number" && !seed.isSlider && seed.isWhole);
});

test("a queue is one number or the fields of its discipline", () => {
  assert.ok(fields("cell = { ap_queue = 9 }").has("cell.ap_queue"));
  const table = fields("cell = { ap_queue.red = { min_th = 1, max_th = 3 } }");
  assert.ok(!table.has("cell.ap_queue") && table.has("cell.ap_queue.red.max_th"));
});

test("a discipline is chosen at the access point and at the line", () => {
  const shown = fields('cell = { phy = "802.11ax" }\nwire = { rate = "9 Mbps", queue.pie = {} }\nstation.a = {}\n');
  const words = (path: string) => {
    const widget = shown.get(`${path}.(discipline)`)?.widget;
    return widget?.kind === "discipline" ? widget.words : [];
  };
  assert.ok(words("cell.ap_queue").includes("mac80211") && !words("wire.queue").includes("mac80211"));
  assert.equal(shown.get("wire.queue.(discipline)")?.value, "pie");
  assert.ok(shown.has("wire.back_rate") && shown.has("station.a.snr") && !shown.has("station.a.rate"));
  assert.equal(queueWith("red"), "{ red = { min_th = 50, max_th = 150 } }");
});

test("units and words are read from patterns", () => {
  const at = (path: string) => schema.scalars(schema.at(path.split(".")) ?? {})[0] ?? {};
  assert.deepEqual(unitsOf(at("duration")), ["ns", "us", "ms", "s", "min", "h"]);
  assert.deepEqual(unitsOf(at("station.x.snr")), ["dB"]);
  assert.deepEqual(wordsOf(at("cell.rts_threshold")), ["never"]);
  assert.deepEqual(wordsOf(at("duration")), []);
  assert.equal(defaultOf(schema.at(["seed"]) ?? {}), "1");
});

test("quantities are read and written", () => {
  assert.deepEqual(quantityOf("1.5e3 Mbps"), { number: "1.5e3", unit: "Mbps" });
  assert.equal(quantityOf("never"), null);
  assert.equal(inWords(0.005, "s"), "5 ms");
  assert.equal(inWords(11e6, "bps"), "11 Mbps");
  assert.equal(inWords(0, "s"), "0 ms");
});

function offered(text: string): string[] {
  return (offersAt(schema, text, text.length)?.offers ?? []).map(({ label }) => label);
}

test("completions of keys belong to their table", () => {
  assert.ok(offered("du").includes("duration"));
  assert.ok(offered('cell = { phy = "802.11b", ap').includes("ap_queue"));
  assert.ok(offered("[station.a]\nup").includes("upload"));
  assert.ok(offered("queue.red.").includes("min_th"));
  assert.ok(offered("cell = {}\n[tcp]\n").includes("congestion"));
  assert.ok(!offered("cell = {}\n[tcp]\n").includes("phy"));
  assert.deepEqual(offered("seed = 1 # the first, du"), []);
});

test("completions of words belong to their key", () => {
  assert.ok(offered('tcp = { congestion = "').includes('"compound"'));
  assert.deepEqual(offered("[tcp]\ndelayed_ack = "), ["true", "false"]);
});
