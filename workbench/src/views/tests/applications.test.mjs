/** Tests of the sentences and tables about pings and chunks, and of the choice of the first view. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { chunkSentences, pingSentences, pingsOf, withPings } from "../delay/applications";
import { delayTables, wantsDelay } from "../delay/calls";

const of = (mean, ci95 = null) => ({ mean, ci95 });
const ANSWER = {
  flows: [
    { name: "a/down/video/1", chunks: of(12), late_chunks: of(1.4, 0.7), chunk_completion_s: of(2.23, 0.3), chunk_completion_p95_s: of(0.5), rtt_s: of(0.1), loss_probability: of(0.01) },
    { name: "a/down/pages/1", chunks: of(4), late_chunks: of(4), chunk_completion_s: of(null), rtt_s: of(0.1) },
    { name: "a/ping/1", rtt_s: of(0.1), rtt_p50_s: of(0.0921, 0.017), rtt_p95_s: of(0.12), rtt_p99_s: of(1.5), loss_probability: of(0.21, 0.07) },
    { name: "a/up/1", rtt_s: of(0.2) },
  ],
};
const SCENARIO = {
  flows: [
    { name: "a/down/video/1", tcp: {}, application: { every_s: 4 } },
    { name: "a/ping/1", ping: { every_s: 0.2 } },
    { name: "a/up/1", tcp: {} },
  ],
};

test("sentences have the units of their values", () => {
  assert.deepEqual(pingSentences(ANSWER), [
    { name: "a/ping/1", sentence: "half of the pings take up to 92 ± 17 ms, and 99 % take up to 1.5 s. 21 ± 7 % are lost" },
  ]);
  assert.deepEqual(chunkSentences(ANSWER).map(({ sentence }) => sentence), [
    "a chunk takes 2.23 ± 0.30 s on average, and 95 % of the chunks take up to 500 ms. 1.4 ± 0.7 of 12 chunks are late",
    "in at least one replication, no chunk arrives completely. 4 of 4 chunks are late",
  ]);
  assert.deepEqual([pingSentences(null), chunkSentences(null)], [[], []]);
});

test("pings and chunks have tables of their own", () => {
  const tables = delayTables(ANSWER).map(({ title, rows }) => [title, rows.map(([name]) => name)]);
  assert.deepEqual(tables, [
    ["Pings", ["a/ping/1"]],
    ["Chunks of applications", ["a/down/video/1", "a/down/pages/1"]],
    ["Delay and loss of flows", ["a/down/video/1", "a/down/pages/1", "a/up/1"]],
  ]);
});

test("round trips of TCP are drawn without pings", () => {
  const pings = pingsOf(SCENARIO);
  assert.deepEqual([...pings], ["a/ping/1"]);
  const named = (name, quantity = "rtt_s") => ({ list: "flows", name, quantity });
  const run = {
    distributions: [named("a/ping/1"), named("a/up/1"), named("a/call/1", "one_way_delay_s")],
    series: { tracks: [named("a/ping/1"), named("a/up/1")] },
  };
  const shown = { ...run, scenario: SCENARIO, keptRun: { ...run, changes: [] } };
  const names = (list) => list.map(({ name }) => name);
  const tcp = withPings(shown, pings, false);
  assert.deepEqual(names(tcp.distributions), ["a/up/1", "a/call/1"]);
  assert.deepEqual(names(tcp.series.tracks), ["a/up/1"]);
  assert.deepEqual(names(tcp.keptRun.distributions), ["a/up/1", "a/call/1"]);
  assert.deepEqual(names(withPings(shown, pings, true).series.tracks), ["a/ping/1"]);
});

test("delays come first with pings or chunks", () => {
  const [video, ping, bulk] = SCENARIO.flows;
  assert.deepEqual([video, ping, bulk].map((flow) => wantsDelay({ flows: [flow] })), [true, true, false]);
});
