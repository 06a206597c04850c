/** Answers of commands become tables that say what they say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../src/engine/answers";
import { tableOfComparison, tableOfSweep, tableOfTuning } from "../src/beside/tables";

const estimate = (mean: number, ci95: number | null = null) => ({ mean, ci95 });

test("a comparison has a row for each quantity, in units that people read", () => {
  const { columns, rows } = tableOfComparison({
    refusal: null,
    rows: [
      { list: "flows", name: "a", quantity: "goodput_bps", predicted: 2.2e6, simulated: 2e6, ci95: 1e5 },
      { list: "cells", name: "cell", quantity: "jain", predicted: null, simulated: 0.9, ci95: null },
    ],
  });
  assert.deepEqual(rows[0], ["flow a", "goodput [Mb/s]", "2.200", "2.00 ± 0.10", "10.0"]);
  assert.deepEqual(rows[1]?.slice(2), ["-", "0.9000", "-"]);
  assert.equal(columns.length, 5);
});

test("a sweep has a row for each point, with what each station gets", () => {
  const result = (mbps: number) =>
    ({
      cells: [{ name: "cell", goodput_bps: estimate(3 * mbps * 1e6) }],
      stations: [{ name: "x", goodput_bps: estimate(mbps * 1e6) }],
    }) as unknown as Answer;
  const { columns, rows } = tableOfSweep({
    points: [
      { settings: { "cell.ap_queue": "25", "tcp.window": "4" }, result: result(1) },
      { settings: { "cell.ap_queue": "50", "tcp.window": "4" }, result: result(2) },
    ],
  });
  assert.deepEqual(columns.map(({ title }) => title), ["name", "goodput", "x"]);
  assert.deepEqual(rows[0], ["cell.ap_queue=25 tcp.window=4", "3.000", "1.000"]);
  assert.deepEqual(rows[1]?.slice(1), ["6.000", "2.000"]);
});

test("without a cell a sweep tells the sum of goodputs", () => {
  const flows = [1, 2].map((mbps) => ({ name: `${mbps}`, goodput_bps: estimate(mbps * 1e6) }));
  const { rows } = tableOfSweep({ points: [{ settings: { a: "1" }, result: { flows } as unknown as Answer }] });
  assert.deepEqual(rows, [["a=1", "3.000"]]);
});

test("tuning shows what is beside what might be", () => {
  const present = { name: "as it is", settings: {}, simulated: { goodput_bps: estimate(4e6) } };
  const chosen = { name: "1 / 7", settings: { "cell.cwmin": 7 }, simulated: { goodput_bps: estimate(5e6) } };
  const other = { name: "3 / 7", settings: { "cell.cwmin": 3 }, simulated: null };
  const { rows } = tableOfTuning({ refusal: null, candidates: [present, other, chosen], chosen, costs: [] });
  assert.deepEqual(rows, [["as it is", "4.000"], ["1 / 7", "5.000"]]);
});
