/** Tests of number formats, units and tables. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { estimate, logTicks, plain, short, ticks } from "../digits";
import { tableOfList, tablesOfAnswer, thinned } from "../numbers/tables";
import { axisLabel, measureOf } from "../quantity";

test("estimates are rounded as lasthop prints them", () => {
  const printed = [
    [3.4584, 0.0486, "3.46 ± 0.05"],
    [0.4226, 0.01456, "0.423 ± 0.015"],
    [2.003, 0.129, "2.00 ± 0.13"],
    [10656, 82, "10656 ± 82"],
    [5, 0, "5.000"],
    [0, 0, "0"],
    [0.00009, 0.00011, "0.00009 ± 0.00011"],
    [123456, 9, "123456 ± 9"],
    [0.7672, null, "0.7672"],
    [9, 6, "9 ± 6"],
    [null, null, "-"],
  ];
  for (const [mean, ci95, text] of printed) assert.equal(estimate(mean, ci95), text);
});

test("numbers in sentences have three digits", () => {
  assert.deepEqual([3.4584, 0, 0.02849, 95.26, 1590].map(short), [
    "3.46",
    "0",
    "0.0285",
    "95.3",
    "1590",
  ]);
  assert.equal(plain(undefined), "-");
});

test("ticks are round and within the range", () => {
  assert.deepEqual(ticks(3.6, 4), [0, 1, 2, 3]);
  assert.deepEqual(ticks(0.055, 5), [0, 0.02, 0.04]);
  assert.deepEqual(ticks(7.1, 4, 7.003), [7.05, 7.1]);
  assert.deepEqual(ticks(0, 4), [0]);
});

test("ticks of a logarithm are 1, 2 and 5 times powers of ten", () => {
  assert.deepEqual(logTicks(30, 1100), [50, 100, 200, 500, 1000]);
  assert.deepEqual(logTicks(0.2, 900), [1, 10, 100]);
  assert.deepEqual(logTicks(108, 1080), [200, 500, 1000]);
  assert.deepEqual(logTicks(0, 5), []);
  // a short range contains hardly any powers of ten
  assert.deepEqual(logTicks(196, 231), [200, 210, 220, 230]);
});

test("units follow from suffixes", () => {
  const unit = (quantity, largest) => axisLabel(measureOf(quantity, largest));
  assert.equal(unit("goodput_bps"), "goodput [Mb/s]");
  assert.equal(unit("rtt_s", 0.2), "RTT [ms]");
  assert.equal(unit("completion_s", 120), "completion [s]");
  assert.equal(unit("rtt_p95_s", 0.2), "RTT 95th percentile [ms]");
  assert.equal(unit("occupancy_packets"), "occupancy [packets]");
  assert.equal(unit("drop_probability"), "drop probability [%]");
  assert.equal(unit("transfer_rate_bps"), "transfer rate [Mb/s]");
  assert.equal(unit("jain"), "Jain's index");
  assert.equal(unit("connections"), "connections");
});

test("a table has texts, then quantities, and dashes for missing values", () => {
  const items = [
    {
      name: "<img src=x>",
      station: "a",
      goodput_bps: { mean: 3458415.6, ci95: 48604 },
      jain: { mean: null, ci95: null },
    },
    { name: "b", goodput_bps: { mean: 0, ci95: 0 }, rtt_s: { mean: 0.2, ci95: null } },
  ];
  const { columns, rows } = tableOfList("flows", items);
  assert.deepEqual(
    columns.map(({ title }) => title),
    ["name", "station", "goodput", "RTT"],
  );
  assert.deepEqual(rows, [
    ["<img src=x>", "a", "3.46 ± 0.05", "-"],
    ["b", "-", "0", "200.0"],
  ]);
});

test("each list of an answer is a table, and nothing else is", () => {
  const answer = {
    kind: "prediction",
    seed: null,
    assumptions: ["a sentence"],
    flows: [{ name: "a" }],
    links: [],
  };
  assert.deepEqual(
    tablesOfAnswer(answer).map(({ title }) => title),
    ["flows"],
  );
});

test("thinned rows keep both ends", () => {
  const rows = Array.from({ length: 1000 }, (_, k) => k);
  const few = thinned(rows, 60);
  assert.deepEqual([few.length, few[0], few.at(-1)], [60, 0, 999]);
  assert.deepEqual(thinned([1, 2], 60), [1, 2]);
});
