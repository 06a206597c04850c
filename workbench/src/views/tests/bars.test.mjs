/** Tests of the bars of goodput. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { axisEnd_bps, barsOf, equalShare_bps, sampleOf, sentence, waysOf } from "../shares/bars";
import { factsOf } from "../shares/facts";

const value = (mean, ci95 = null) => ({ mean, ci95 });
const flow = (name, station, direction, bps) => ({
  name,
  station,
  direction,
  goodput_bps: value(bps),
});
const answer = {
  flows: [
    flow("up/1", "uploader", "up", 2e6),
    flow("b/down/1", "b", "down", 0.5e6),
    flow("up/2", "uploader", "up", 1e6),
    flow("b/up/1", "b", "up", 0.25e6),
    flow("meter/1", "meter", "up", 1e3),
  ],
  stations: [
    { name: "uploader", goodput_bps: value(3e6, 2e5) },
    { name: "b", goodput_bps: value(1e6, 4e5) },
    { name: "meter", goodput_bps: value(1e3) },
  ],
};
const scenario = {
  flows: [
    { name: "up/1", station: "uploader" },
    { name: "b/down/1", station: "b" },
    { name: "b/up/1", station: "b", sensor: {} },
    { name: "meter/1", station: "meter", sensor: {} },
  ],
};

test("a station's bar consists of its flows by direction and of the rest", () => {
  const [uploader, b] = barsOf(answer, "stations", scenario);
  assert.deepEqual(uploader.parts, [{ direction: "up", goodput_bps: 3e6 }]);
  assert.deepEqual(b.parts, [
    { direction: "down", goodput_bps: 0.5e6 },
    { direction: "up", goodput_bps: 0.25e6 },
    { direction: "other", goodput_bps: 0.25e6 },
  ]);
});

test("flows of a station are next to each other", () => {
  assert.deepEqual(
    barsOf(answer, "flows").map(({ name }) => name),
    ["up/1", "up/2", "b/down/1", "b/up/1", "meter/1"],
  );
});

test("the equal share leaves out those that only report", () => {
  assert.equal(equalShare_bps(barsOf(answer, "stations", scenario)), 2e6);
  assert.equal(equalShare_bps(barsOf({ stations: answer.stations.slice(0, 1) }, "stations")), null);
});

test("all bars, intervals and predictions are within the axis", () => {
  const prediction = { stations: [{ name: "b", goodput_bps: value(5e6) }] };
  const bars = barsOf(answer, "stations", scenario, prediction);
  assert.equal(bars[1].predicted_bps, 5e6);
  assert.equal(bars[0].predicted_bps, null);
  assert.ok(axisEnd_bps(bars) >= 5e6);
  assert.ok(axisEnd_bps(barsOf(answer, "stations")) >= 3.2e6);
});

test("an interval that is huge does not make bars small", () => {
  const wide = {
    stations: [
      { name: "a", goodput_bps: value(1e6, 12e6) },
      { name: "b", goodput_bps: value(2e6, 1e5) },
    ],
  };
  const end = axisEnd_bps(barsOf(wide, "stations"));
  assert.ok(end > 2.1e6 && end < 4e6, `${end}`);
});

test("a predicted share is a fraction of the total", () => {
  const prediction = { stations: [{ name: "b", goodput_share: value(0.5) }] };
  assert.equal(barsOf(answer, "stations", scenario, prediction)[1].predicted_bps, 0.5 * 4.001e6);
});

test("the sentence names the largest bar, and counts those that are not named", () => {
  assert.equal(
    sentence(barsOf(answer, "stations")),
    "uploader gets 3 of 4 Mb/s, b 1, meter 0.001.",
  );
  const many = {
    flows: Array.from({ length: 60 }, (_, k) => flow(`f${k}`, null, null, 1e6 + k * 1e4)),
  };
  assert.match(
    sentence(barsOf(many, "flows")),
    /^f59 gets 1.59 of 77.7 Mb\/s, f58 1.58, .*, 54 others 1 to 1.53 each\.$/,
  );
});

test("lists without goodput are not a choice", () => {
  assert.deepEqual(waysOf({ ...answer, classes: [{ name: "c", jain: value(1) }] }), [
    "stations",
    "flows",
  ]);
});

test("a sample of many bars goes from most to least, and leaves all where they are", () => {
  const flows = Array.from({ length: 60 }, (_, k) => flow(`f${k}`, `s${k % 2}`, "down", 1e6 + k));
  const bars = barsOf({ flows }, "flows");
  const before = bars.map(({ name }) => name);
  const names = sampleOf(bars, 12).map(({ name }) => name);
  assert.equal(new Set(names).size, 12);
  assert.deepEqual([names[0], names.at(-1)], ["f59", "f0"]);
  const ranks = names.map((name) => Number(name.slice(1)));
  assert.deepEqual(ranks, [...ranks].sort((a, b) => b - a));
  assert.ok(sampleOf(bars, 12).every(({ group }) => group === null));
  assert.deepEqual(
    bars.map(({ name }) => name),
    before,
  );
});

test("without cell and classes the flows have a sum", () => {
  const row = [3.5e6, 0.5e6, 3.5e6].map((bps, k) => flow(`f${k}`, null, null, bps));
  assert.deepEqual(factsOf({ flows: row }), [["Goodput of all flows", "7.500 Mb/s"]]);
  assert.deepEqual(factsOf({ flows: row.slice(0, 1) }), []);
  const cell = { name: "cell", goodput_bps: value(7e6), jain: value(0.5) };
  assert.deepEqual(
    factsOf({ flows: row, cells: [cell] }).map(([title]) => title),
    ["Goodput of the cell", "Jain's index"],
  );
});
