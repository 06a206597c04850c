/** Tests that tables are sorted by the numbers in their cells. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sorted } from "../src/views/numbers/sorted";

const ROWS = [["b-10", "3.1 ± 0.2"], ["a", "-"], ["b-2", "12 ± 4"], ["c", "−5"]];

function names(column: number, isReversed = false): string[] {
  return sorted(ROWS, { column, isReversed }).rows.map(({ row }) => row[0] as string);
}

test("numbers begin with the largest, and cells without a value are last", () => {
  assert.deepEqual(names(1), ["b-2", "b-10", "c", "a"]);
  assert.deepEqual(names(1, true), ["c", "b-10", "b-2", "a"]);
});

test("words are in the order of the alphabet, numbers in them by value", () => {
  assert.deepEqual(names(0), ["a", "b-2", "b-10", "c"]);
  assert.equal(sorted(ROWS, { column: 0, isReversed: false }).isFalling, false);
});

test("without an order rows stay as they are, with their numbers", () => {
  assert.deepEqual(sorted(ROWS, null).rows.map(({ number }) => number), [0, 1, 2, 3]);
});
