/** What the gallery says is what its scenarios yield, with the engine of the built page. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Answer, Estimate, Item } from "../src/engine/answers";
import { Engine } from "../src/engine/engine";
import { afterTrial, entryOf, GALLERY } from "../src/gallery";

const ENGINE = "../python/lasthop/workbench/page/engine.wasm";
// With CI=true nothing is skipped: the tests fail then if there is no engine.
const skip =
  existsSync(ENGINE) || process.env.CI === "true" ? false : "the page has not been built";

/** The answer over so many replications, with one of the entry's trials or none. */
async function answer(id: string, trial: number | null, replications = 3): Promise<Answer> {
  const entry = GALLERY.find((one) => one.id === id);
  assert.ok(entry, id);
  const chosen = trial === null ? null : entry.trials[trial];
  const text = chosen ? afterTrial(entry, chosen) : entry.text;
  assert.ok(text, `${id}, trial ${trial}`);
  const { instance } = await WebAssembly.instantiate(readFileSync(ENGINE), {});
  const engine = new Engine(instance);
  const source = { text, settings: [`replications=${replications}`] };
  const runs = Array.from({ length: replications }, (_, at) => {
    const run = engine.begin(source, at);
    while (!engine.isOver(run)) engine.advance(run);
    return run;
  });
  const values = runs.flatMap((run) => [...engine.values(run)]);
  return JSON.parse(engine.combine(runs[0] as number, Float64Array.from(values))) as Answer;
}

function mean(told: Answer, list: string, name: string, quantity: string): number {
  const item = (told[list] as Item[]).find((one) => one.name === name);
  const value = (item?.[quantity] as Estimate | undefined)?.mean;
  assert.equal(typeof value, "number", `${list} ${name} ${quantity}`);
  return value as number;
}

/** The goodput of all whose name begins so. [Mb/s] */
function mbps(told: Answer, list: string, begin: string): number {
  const items = (told[list] as Item[]).filter(({ name }) => name.startsWith(begin));
  assert.ok(items.length, begin);
  return items.reduce((sum, { name }) => sum + mean(told, list, name, "goodput_bps") / 1e6, 0);
}

function near(value: number, said: number, part = 0.05): void {
  assert.ok(Math.abs(value - said) <= part * said, `${value} is not about ${said}`);
}

test("a card belongs to the texts of its entry and of its trials", () => {
  for (const entry of GALLERY) {
    const texts = [entry.text, ...entry.trials.map((trial) => afterTrial(entry, trial))];
    assert.equal(new Set(texts).size, 1 + entry.trials.length);
    for (const text of texts) assert.equal(entryOf(text ?? ""), entry);
    assert.equal(entryOf(`${entry.text}\n# changed`), null);
  }
});

test("the uploader wins, and not behind a shared bottleneck", { skip }, async () => {
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

test("RED swings, and its trials do what they say", { skip }, async () => {
  const longest = (told: Answer) => mean(told, "queues", "bottleneck", "occupancy_max_packets");
  const all = (told: Answer) => mbps(told, "flows", "flow");
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

test("an access point that need not contend carries more", { skip }, async () => {
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
  near(mbps(await answer("aggregates", null, 2), "stations", ""), 250, 0.15);
  near(mbps(await answer("aggregates", 0, 2), "stations", ""), 50, 0.1);
});
