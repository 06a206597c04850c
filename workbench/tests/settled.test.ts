/** Tests of overrides: an override is written into the text only if the text then has the same meaning. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { toldOf } from "../src/scenario/problems";
import { settled } from "../src/scenario/settled";

const TEXT = `cell = { phy = "802.11b" } # the hall
[station.uploader]
upload = 6 # all at once
download = { count = 2, window = 4 }
`;

test("a value is changed in its place", () => {
  assert.deepEqual(settled(TEXT, ["station.uploader.upload=1", "cell.ap.cwmin=7"]), {
    text: TEXT.replace("upload = 6", "upload = 1").replace('"802.11b" }', '"802.11b", ap.cwmin = 7 }'),
    over: [],
  });
});

test("a value that is not TOML is a text", () => {
  assert.equal(settled("", ["duration=20 s"]).text.trim(), 'duration = "20 s"');
  assert.equal(settled("", ["a=true"]).text.trim(), "a = true");
});

test("the later of two settings of a key applies", () => {
  assert.deepEqual(settled("seed = 1\n", ["seed=2", "seed=3"], ["seed=4", "b=1"]), { text: "seed = 3\n", over: ["b=1"] });
});

test("settings that do not fit into the text remain overrides", () => {
  for (const setting of [
    "station.uploader.download=1", // the window would be removed
    "station.uploader.upload.window=3",
    "station.absent.upload=1",
    "tcp={ window = 4 }",
    "a b=1",
    "seed=7 # first",
  ]) {
    const { text, over } = settled(TEXT, [setting]);
    if (setting.startsWith("seed")) assert.match(text, /^seed = 7 # first$/m);
    else assert.deepEqual([text, over], [TEXT, [setting]]);
  }
  assert.deepEqual(settled("half = [", ["seed=2"]).over, ["seed=2"]);
});

test("an override of a table hides its values in the text", () => {
  assert.deepEqual(settled("queue = 5\n", ["queue.limit=3"], ["queue={ limit = 9 }"]).over, ["queue={ limit = 9 }", "queue.limit=3"]);
  assert.deepEqual(settled("", ["cell.ap.cwmin=3"], ["cell.ap_queue=9"]).over, ["cell.ap_queue=9"]);
});

test("a suggestion comes before the accepted values", () => {
  const problem = { message: "unknown key; expected one of a, b", hint: "did you mean `a`?" };
  assert.equal(toldOf(problem), "unknown key; did you mean `a`? Expected one of a, b");
  assert.equal(toldOf({ message: "missing", hint: "give it" }), "missing; give it");
  assert.equal(toldOf({ message: "missing", hint: null }), "missing");
});
