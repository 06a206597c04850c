import { strict as assert } from "node:assert";
import { test } from "node:test";
import { columnOf } from "../src/report/data";

test("the head of a column has words in any number of lines, then its unit", () => {
  assert.deepEqual(columnOf("phone\ncall up\n99 %\nwithin\n[ms]"), { title: "phone call up 99 % within", unit: "ms" });
  assert.deepEqual(columnOf("Jain's\nindex\n[-]"), { title: "Jain's index", unit: "" });
  assert.deepEqual(columnOf("station.laptop.upload"), { title: "station.laptop.upload", unit: "" });
});
