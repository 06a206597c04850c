/** Tests of lines over time and of distributions. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { looks } from "../chart/lines";
import { choicesOf, firstAfter, picksOf, sampledOf, smoothed } from "../time/tracks";
import { densityOf, histogramOf, merged, partBelow, quantile_s } from "../delay/ecdf";

const series = {
  interval_s: 1,
  time_s: [1, 2, 3],
  tracks: [
    { list: "queues", name: "ap", quantity: "occupancy_packets", values: [1, null, 3] },
    ...Array.from({ length: 60 }, (_, k) => ({
      list: "flows",
      name: `f${k}`,
      quantity: "goodput_bps",
      values: [100 - k, k, k],
    })),
  ],
};

test("of sixty flows twelve have lines, and all have a mean and a sum", () => {
  const [choice] = choicesOf(series);
  assert.equal(choice.quantity, "goodput_bps");
  const lines = sampledOf(series, choice, "most", 2);
  assert.deepEqual(
    lines.map(({ name }) => name),
    [...Array.from({ length: 12 }, (_, k) => `f${48 + k}`), "mean of all 60", "sum of all 60"],
  );
  assert.deepEqual(lines[12].values, [70.5, 29.5, 29.5]);
  assert.deepEqual(lines[13].values, [4230, 1770, 1770]);
  assert.equal(sampledOf(series, choice, "least", 2)[0].name, "f0");
  assert.equal(sampledOf(series, choice, 24, 2)[0].name, "f24");
  assert.deepEqual(
    picksOf(60).map(([pick]) => pick),
    ["most", "least", 0, 12, 24, 36, 48],
  );
});

test("the mean includes known values only", () => {
  const track = (values) => ({ list: "flows", name: "f", quantity: "rtt_s", values });
  const partly = {
    interval_s: 1,
    time_s: [1, 2, 3],
    tracks: [track([1, null, 3]), track([3, null, null])],
  };
  const lines = sampledOf(partly, choicesOf(partly)[0], "most", 0);
  assert.deepEqual(lines.at(-1).values, [2, null, 3]);
});

test("one item has one line, with its gaps", () => {
  const queues = choicesOf(series)[1];
  assert.deepEqual(sampledOf(series, queues, "most", 0), [
    { name: "ap", of: "item", values: [1, null, 3] },
  ]);
});

test("the warm-up ends at the first sample at or after its end", () => {
  assert.equal(firstAfter(series, 1.5), 1);
  assert.equal(firstAfter(series, 9), 0);
});

test("running means leave out unknown values, and keep gaps", () => {
  assert.deepEqual(smoothed([2, 4, null, 6, 8], 3), [3, 3, null, 7, 7]);
  assert.deepEqual(smoothed([1, 2], 1), [1, 2]);
});

const histogram = histogramOf({ name: "a", edges_s: [0, 1, 2, 4], counts: [10, 0, 30] });

test("values are spread evenly over their cell", () => {
  assert.deepEqual(
    [0, 0.5, 1, 1.5, 3, 4, 9].map((value) => partBelow(histogram, value)),
    [0, 0.125, 0.25, 0.25, 0.625, 1, 1],
  );
});

test("quantiles are the inverse, without empty cells", () => {
  assert.deepEqual(
    [0.125, 0.25, 0.5, 1].map((part) => quantile_s(histogram, part)),
    [0.5, 1, 2 + 2 / 3, 4],
  );
  assert.equal(quantile_s(histogram, 0), 0);
  assert.equal(quantile_s(histogramOf({ name: "", edges_s: [0, 1], counts: [0] }), 0.5), null);
});

test("merged histograms have all values of both", () => {
  const other = histogramOf({ name: "b", edges_s: [0.5, 3], counts: [40] });
  const both = merged("both", [histogram, other]);
  assert.equal(both.total, 80);
  assert.ok(Math.abs(both.counts.reduce((sum, count) => sum + count, 0) - 80) < 1e-9);
  for (const value of [0.7, 1.5, 3.5]) {
    const expected = (partBelow(histogram, value) + partBelow(other, value)) / 2;
    assert.ok(Math.abs(partBelow(both, value) - expected) < 1e-12);
  }
});

test("steps of a histogram have all values", () => {
  const { parts } = densityOf(histogram, [0.2, 4], 16);
  const outside = partBelow(histogram, 0.2);
  assert.ok(Math.abs(parts.reduce((sum, part) => sum + part, 0) + outside - 1) < 1e-12);
});

test("fifteen lines have different looks", () => {
  const seen = Array.from({ length: 15 }, (_, at) => JSON.stringify(looks(at)));
  assert.equal(new Set(seen).size, 15);
  assert.equal(looks(0).color, looks(5).color);
  assert.deepEqual([looks(0).dash, looks(4).dash], [undefined, undefined]);
  assert.ok(looks(5).dash);
});
