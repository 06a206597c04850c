/** Tests that recordings are small enough for a page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../src/engine/answers";
import { airSettings, hasAir, roundInterval_s, seriesSettings, stretch_s } from "../src/state/recording";

const CELL = { duration_s: 90, warmup_s: 30, replications: 2, cell: {}, stations: [{}], flows: [{}] };

test("intervals are round and have at most this number of samples", () => {
  assert.equal(roundInterval_s(90, 400), 0.5);
  assert.equal(roundInterval_s(400, 400), 1);
  for (const duration_s of [0.001, 0.7, 13, 90, 1e6]) {
    assert.ok(duration_s / roundInterval_s(duration_s, 400) <= 400.5);
  }
});

test("many flows have fewer samples", () => {
  assert.ok(seriesSettings(CELL).includes("record.series_interval=500000000 ns"));
  const many = { ...CELL, flows: Array.from({ length: 100_000 }) };
  assert.ok(seriesSettings(many).includes("record.series_interval=50000000000 ns"));
});

test("frames are recorded from an instant on, and not longer than needed", () => {
  const settings = airSettings(CELL, 40, 10);
  assert.ok(settings.includes("record.from=40000000000 ns") && settings.includes("duration=50000000000 ns"));
  assert.ok(settings.includes("record.frames=20000"));
  assert.ok(!settings.some((setting) => setting.startsWith("warmup")));
  assert.ok(airSettings(CELL, 10, 10).includes("warmup=10000000000 ns"));
  assert.ok(!airSettings(CELL, 85, 10).some((setting) => setting.startsWith("duration")));
});

test("an interval has about as many frames as are stored", () => {
  const flows = [{ name: "a", goodput_bps: { mean: 5.84e6, ci95: null } }];
  assert.ok(Math.abs(stretch_s({ flows } as unknown as Answer) - 20_000 / 2400) < 0.01);
  assert.equal(stretch_s({} as Answer), 200);
});

test("only cells with stations have frames", () => {
  assert.ok(hasAir(CELL));
  assert.ok(!hasAir({ ...CELL, stations: [] }) && !hasAir({ ...CELL, cell: null }));
});
