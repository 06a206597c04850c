/** Tests that links restore their contents, and that invalid links are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { fromFragment, isSetting, toFragment } from "../src/state/link";

const LINKED = { text: 'name = "ü → <img>"\n', settings: ["seed=3"], view: { side: "form" } };

function fragment(text: string): string {
  return `#s=${deflateRawSync(text).toString("base64url")}`;
}

test("a link restores text, settings and view", async () => {
  assert.deepEqual(await fromFragment(await toFragment(LINKED)), LINKED);
  assert.match(await toFragment(LINKED), /^#s=[\w-]+$/);
});

test("an empty fragment is not a link", async () => {
  assert.equal(await fromFragment(""), null);
  assert.equal(await fromFragment("#"), null);
});

test("damaged and hostile links are refused with a message", async () => {
  const bad = [
    "#x",
    "#s=!!",
    "#s=AAAA",
    fragment("not JSON"),
    fragment("[]"),
    fragment('{"text": 5}'),
    fragment('{"text": "", "settings": ["a\\nb=c"]}'),
    fragment('{"text": "", "settings": "a=b"}'),
    `#s=${"A".repeat(100_001)}`,
    fragment(JSON.stringify({ text: "a".repeat(2_000_000) })),
  ];
  for (const fragment of bad) {
    await assert.rejects(fromFragment(fragment), { name: "LinkError" }, fragment.slice(0, 40));
  }
});

test("views of a link are only texts", async () => {
  const linked = await fromFragment(fragment('{"text": "", "view": {"a": 1, "b": "x", "__proto__": {"c": 1}}}'));
  assert.deepEqual(linked?.view, { b: "x" });
});

test("a text that is too long for a link is refused", async () => {
  const random = Array.from({ length: 120_000 }, (_, at) => String.fromCharCode(33 + ((at * 7919 * at) % 93)));
  await assert.rejects(toFragment({ ...LINKED, text: random.sort(() => 0.5 - Math.random()).join("") }), {
    name: "LinkError",
  });
});

test("settings are pairs on one line", () => {
  assert.ok(isSetting("cell.ap.cwmin=7") && isSetting("a="));
  assert.ok(!isSetting("a") && !isSetting("=b") && !isSetting("a=b\nc=d") && !isSetting(5));
});
