/** Tests of the list of changes since a kept run, and of the button Back, which returns to earlier texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesBetween } from "../src/scenario/changes";
import { Past } from "../src/state/past";

const source = (text: string, settings: string[] = []) => ({ text, settings });

test("changes are listed by key, with the value before and after", () => {
  const before = source('name = "a"\nwire.queue = 1000\n[station.tv]\ndownload = 2 # films\n[station.guest]\nupload = 1\n');
  const after = source('name = "b"\nwire.queue = { fq_codel = {} }\nseed = 2\n[station.tv]\ndownload = 2\n');
  assert.deepEqual(changesBetween(before, after), ["wire.queue: 1000 → fq_codel", "without station.guest", "seed = 2"]);
  assert.deepEqual(changesBetween(before, source(before.text, ["station.tv.download=3"])), ["station.tv.download: 2 → 3"]);
  assert.deepEqual(changesBetween(before, before), []);
});

test("typing in one go is one edit, and a trial is another", () => {
  const past = new Past();
  past.leave(source("1"), true, 0);
  past.leave(source("12"), true, 1000);
  past.leave(source("123"), false, 1100);
  past.leave(source("trial"), true, 1200);
  assert.deepEqual([past.back(), past.back(), past.back(), past.back()].map((each) => each?.text), ["trial", "123", "1", undefined]);
});
