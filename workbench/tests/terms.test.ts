/** Tests that terms are marked only where the meaning in the glossary applies, once per text. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { marked } from "../src/terms/marked";

function terms(text: string): string[] {
  return marked(text).flatMap(({ text, means }) => (means ? [text] : []));
}

test("a term is marked at its first place, by its longest form", () => {
  const text = "The 99th percentile of the RTT; the RTT is a round-trip time. Jain's index";
  assert.deepEqual(terms(text), ["99th percentile", "RTT", "Jain's index"]);
  assert.equal(marked(text).map((piece) => piece.text).join(""), text);
});

test("words that resemble terms are not marked", () => {
  assert.deepEqual(terms("a red apple pie, mac80211-like, goodputs"), []);
  assert.deepEqual(terms("Goodput with RED and fq_codel"), ["Goodput", "RED", "fq_codel"]);
});
