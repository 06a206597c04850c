/** Tests that the numbers in the gallery are results of its scenarios with the engine of the built page. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Answer, Estimate, Item } from "../src/engine/answers";
import { Engine } from "../src/engine/engine";
import { afterTrial, entryOf, GALLERY } from "../src/gallery";

const ENGINE = "../python/lasthop/workbench/page/engine.wasm";
// With CI=true the tests fail if there is no engine. Without CI=true they are skipped.
const skip =
  existsSync(ENGINE) || process.env.CI === "true" ? false : "the page has not been built";

/** The engine, compiled once for all tests. */
const compiled = skip ? null : WebAssembly.compile(readFileSync(ENGINE));

/** Simulates an entry of the gallery, with the change of its trial `trial` or unchanged (null). Returns the result. */
async function answer(id: string, trial: number | null, replications = 3): Promise<Answer> {
  const entry = GALLERY.find((known) => known.id === id);
  assert.ok(entry, id);
  const chosen = trial === null ? null : entry.trials[trial];
  const text = chosen ? afterTrial(entry, chosen) : entry.text;
  assert.ok(text, `${id}, trial ${trial}`);
  const engine = new Engine(new WebAssembly.Instance((await compiled) as WebAssembly.Module, {}));
  const source = { text, settings: [`replications=${replications}`] };
  const runs = Array.from({ length: replications }, (_, at) => {
    const run = engine.begin(source, at);
    while (!engine.isOver(run)) engine.advance(run);
    return run;
  });
  const values = runs.flatMap((run) => [...engine.values(run)]);
  return JSON.parse(engine.combine(runs[0] as number, Float64Array.from(values))) as Answer;
}

function mean(answer: Answer, list: string, name: string, quantity: string): number {
  const item = (answer[list] as Item[]).find((known) => known.name === name);
  const value = (item?.[quantity] as Estimate | undefined)?.mean;
  assert.equal(typeof value, "number", `${list} ${name} ${quantity}`);
  return value as number;
}

/** Returns the sum of the goodputs of all items with this prefix in their names. [Mb/s] */
function mbps(answer: Answer, list: string, begin: string): number {
  const items = (answer[list] as Item[]).filter(({ name }) => name.startsWith(begin));
  assert.ok(items.length, begin);
  return items.reduce((sum, { name }) => sum + mean(answer, list, name, "goodput_bps") / 1e6, 0);
}

/** Returns a quantity of an item in the unit of the gallery: milliseconds, per cent or packets. */
function inUnits(answer: Answer, list: string, name: string, quantity: string): number {
  const scale = quantity.endsWith("_s") ? 1e3 : quantity.endsWith("_packets") ? 1 : 100;
  return scale * mean(answer, list, name, quantity);
}

function near(value: number, expected: number, part = 0.05): void {
  assert.ok(Math.abs(value - expected) <= part * expected, `${value} is not about ${expected}`);
}

test("an entry belongs to its text and to those of its trials", () => {
  for (const entry of GALLERY) {
    const texts = [entry.text, ...entry.trials.map((trial) => afterTrial(entry, trial))];
    assert.equal(new Set(texts).size, 1 + entry.trials.length);
    for (const text of texts) assert.equal(entryOf(text ?? ""), entry);
    assert.equal(entryOf(`${entry.text}\n# changed`), null);
  }
});

/**
 * An expected value of an entry. The list and the name identify an item of the result. The quantity "mbps" is the sum
 * of the goodputs of all items whose names begin with `name`. `trial` is null without a change. `part` is the relative
 * tolerance.
 */
type Fact = [trial: number | null, list: string, name: string, quantity: string, expected: number, part?: number];
const UP_P99 = ["flows", "phone/audio-up/1", "one_way_delay_p99_s"] as const;
const FACTS: Record<string, Fact[]> = {
  "home-call": [[null, ...UP_P99, 400, 0.25], [0, ...UP_P99, 14, 0.25], [1, ...UP_P99, 33, 0.1], [2, ...UP_P99, 13, 0.15]],
  "slow-laptop": [
    [null, "stations", "new", "mbps", 120, 0.5], [null, "stations", "old", "mbps", 15, 0.3], [null, "stations", "old", "airtime_fraction", 67, 0.3],
    [0, "stations", "new", "mbps", 265, 0.1], [0, "stations", "old", "mbps", 7.3, 0.1], [1, "stations", "old", "mbps", 66, 0.3],
  ],
  guest: [
    [null, "stations", "guest", "mbps", 42], [null, "stations", "family", "mbps", 6.5, 0.25],
    [0, "stations", "guest", "mbps", 11.5], [0, "stations", "family", "mbps", 34.5], [1, "stations", "guest", "mbps", 42],
  ],
  line: [
    [null, "stations", "laptop", "mbps", 64], [null, "cells", "cell", "busy_fraction", 98, 0.01],
    [0, "stations", "laptop", "mbps", 292], [1, "stations", "laptop", "mbps", 105],
  ],
  voice: [[null, "flows", "phone/udp-down/1", "one_way_delay_p99_s", 205, 0.1], [0, "flows", "phone/udp-down/1", "one_way_delay_p99_s", 19, 0.25]],
  backup: [[null, "stations", "television", "mbps", 13, 0.5], [null, "queues", "wire/up", "sojourn_s", 220, 0.3], [0, "stations", "television", "mbps", 47], [0, "stations", "computer", "mbps", 4.2]],
  game: [
    [null, "flows", "console/udp-down/1", "one_way_delay_p99_s", 126], [0, "flows", "console/udp-down/1", "one_way_delay_p99_s", 11],
    [0, "stations", "laptop", "mbps", 41], [1, "flows", "console/udp-down/1", "one_way_delay_p99_s", 9], [1, "stations", "laptop", "mbps", 48],
  ],
  party: [[null, "stations", "guest", "mbps", 216], [null, "stations", "guest-1", "collision_rate", 48, 0.25], [0, "stations", "guest", "mbps", 307], [1, "stations", "guest", "mbps", 286]],
  window: [
    [null, "flows", "flow", "mbps", 4.6], [0, "flows", "flow", "mbps", 9.1], [1, "flows", "flow", "mbps", 19.5],
    [1, "queues", "bottleneck", "occupancy_packets", 3.1], [2, "flows", "flow", "mbps", 19.5], [2, "queues", "bottleneck", "occupancy_packets", 52, 0.1],
  ],
  fairness: [
    [null, "flows", "near", "mbps", 6.6], [null, "flows", "far", "mbps", 3.2, 0.1], [0, "flows", "near", "mbps", 5.8], [0, "flows", "far", "mbps", 3.9],
    [1, "flows", "near", "mbps", 5.5], [1, "flows", "far", "mbps", 3.8],
  ],
  hidden: [[null, "flows", "a", "mbps", 2.1], [0, "flows", "a", "mbps", 3.0], [1, "flows", "a", "mbps", 3.9]],
  rts: [[null, "stations", "sta", "mbps", 5.4], [null, "stations", "sta-1", "collision_rate", 40, 0.2], [0, "stations", "sta", "mbps", 4.9], [1, "stations", "sta", "mbps", 6.2], [1, "stations", "sta-1", "collision_rate", 11, 0.3]],
  little: [
    [null, "queues", "bottleneck", "occupancy_packets", 353], [null, "queues", "bottleneck", "sojourn_s", 424], [0, "queues", "bottleneck", "sojourn_s", 50, 0.1],
    [0, "flows", "flow", "mbps", 9.7], [1, "queues", "bottleneck", "occupancy_packets", 7.6], [1, "queues", "bottleneck", "sojourn_s", 9], [1, "flows", "flow", "mbps", 9.7],
  ],
};

test("every entry has a test of its numbers", () => {
  const tested = [...Object.keys(FACTS), "uploader", "middle", "swing", "priority", "shares", "aggregates"];
  assert.deepEqual([...tested].sort(), GALLERY.map(({ id }) => id).sort());
  for (const entry of GALLERY.filter(({ id }) => FACTS[id])) {
    const trials = new Set(FACTS[entry.id]?.map(([trial]) => trial));
    assert.equal(trials.size, 1 + entry.trials.length, entry.id);
  }
});

for (const [id, facts] of Object.entries(FACTS)) {
  test(`the numbers of ${id} are those of its scenario`, { skip }, async () => {
    for (const trial of new Set(facts.map(([trial]) => trial))) {
      const measured = await answer(id, trial, 1);
      for (const [, list, name, quantity, expected, part] of facts.filter(([own]) => own === trial)) {
        near(quantity === "mbps" ? mbps(measured, list, name) : inUnits(measured, list, name, quantity), expected, part);
      }
    }
  });
}

test("the uploader wins, except with a shared bottleneck", { skip }, async () => {
  const plain = await answer("uploader", null);
  near(mbps(plain, "stations", "uploader"), 3.4);
  near(mbps(plain, "stations", "others") / 4, 0.43);
  const shared = await answer("uploader", 0);
  near(mbps(shared, "stations", "uploader"), 1);
  near(mbps(shared, "stations", "others") / 4, 1);
  near(mbps(await answer("uploader", 1), "stations", "uploader"), 2.4);
});

test("the middle link starves, and less with adaptive access", { skip }, async () => {
  const dcf = await answer("middle", null);
  near(mbps(dcf, "flows", "left"), 3.5);
  near(mbps(dcf, "flows", "middle"), 0.43);
  const adaptive = await answer("middle", 0);
  near(mbps(adaptive, "flows", "left"), 2.1, 0.08);
  near(mbps(adaptive, "flows", "middle"), 1.4, 0.08);
});

test("RED oscillates, and its trials have the described results", { skip }, async () => {
  const longest = (result: Answer) => mean(result, "queues", "bottleneck", "occupancy_max_packets");
  const all = (result: Answer) => mbps(result, "flows", "flow");
  const [plain, close, bare, illinois, threshold] = await Promise.all(
    [null, 0, 1, 2, 3].map((trial) => answer("swing", trial, 1)),
  ) as [Answer, Answer, Answer, Answer, Answer];
  near(all(plain), 80);
  near(longest(plain), 246);
  near(all(close), 97);
  near(all(bare), 86);
  near(longest(bare), 96);
  near(all(illinois), 60);
  near(longest(illinois), 520, 0.1);
  near(all(threshold), 83);
  assert.ok(longest(threshold) <= 15);
});

test("an access point without backoff carries more", { skip }, async () => {
  near(mbps(await answer("priority", null), "stations", "sta"), 4.97, 0.01);
  near(mbps(await answer("priority", 0), "stations", "sta"), 4.45, 0.01);
  near(mbps(await answer("priority", 1), "stations", "sta"), 5.24, 0.01);
});

test("shares make classes equal", { skip }, async () => {
  const shared = await answer("shares", null);
  near(mbps(shared, "stations", "near"), 2.7);
  near(mbps(shared, "stations", "far"), 2.7);
  const plain = await answer("shares", 0);
  near(mbps(plain, "stations", "near"), 3.6);
  near(mbps(plain, "stations", "far"), 2.1);
  near(mean(plain, "flows", "meter/sensor-down/1", "report_delivery"), 0.88, 0.07);
});

test("aggregates carry five times as much", { skip }, async () => {
  near(mbps(await answer("aggregates", null, 2), "stations", ""), 260, 0.15);
  near(mbps(await answer("aggregates", 0, 2), "stations", ""), 50, 0.1);
});
