/** Tests that compare drop curves with the engine's definitions and tests (queue/red/tests.rs). */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  axisEnd,
  lawOf,
  probabilityAt,
  probabilityEnd,
  redProbability,
  spacedProbability,
} from "../queue/law";
import { measuredQueues, operatingOf, queuesOf, swingOf } from "../queue/queues";

const RED = {
  discipline: "red",
  form: "ns-2",
  min_th_packets: 2,
  max_th_packets: 4,
  max_p: 0.1,
  gentle: true,
  wait: true,
};
const close = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} for ${expected}`);

test("RED's probability is that of the engine at its worked averages", () => {
  for (const [average, p_b] of [
    [1.9, 0],
    [2, 0],
    [3, 0.05],
    [4, 0.1],
    [6, 0.55],
    [7.9, 0.9775],
    [9, 1],
  ]) {
    close(redProbability(RED, average), p_b);
    close(probabilityAt(lawOf(RED, 50, null).curve, average), p_b);
  }
  const abrupt = { ...RED, gentle: false };
  close(redProbability(abrupt, 3.999999), 0.09999995);
  close(redProbability(abrupt, 4), 1);
  close(probabilityAt(lawOf(abrupt, 50, null).curve, 4.1), 1);
});

test("spaced drops are as frequent as in the engine: 1 in 10 and 1 in 29.5 at p_b = 0.05", () => {
  close(spacedProbability(0.05, false), 1 / 10);
  close(spacedProbability(0.05, true), 1 / 29.5);
  close(spacedProbability(1, true), 1);
  close(spacedProbability(0.9, true), 1 / 2); // never two in a row
  close(spacedProbability(0, true), 0);
});

test("the spaced rate follows from the rule", () => {
  // queue/red.rs, `spread`: the probability of a drop at the count-th packet
  const spread = (p_b, count, wait) => {
    const expected = count * p_b;
    if (wait) return expected < 1 ? 0 : expected < 2 ? Math.min(1, p_b / (2 - expected)) : 1;
    return expected < 1 ? Math.min(1, p_b / (1 - expected)) : 1;
  };
  for (const wait of [true, false]) {
    for (const p_b of [0.01, 0.05, 0.1, 0.25, 0.5, 1]) {
      let [reached, mean] = [1, 0];
      for (let count = 1; reached > 1e-12; count += 1) {
        const dropped = reached * spread(p_b, count, wait);
        mean += count * dropped;
        reached -= dropped;
      }
      close(1 / mean, spacedProbability(p_b, wait));
    }
  }
});

test("plain queues drop a packet that arrives at the limit", () => {
  const { curve } = lawOf({ discipline: "drop_tail" }, 75, null);
  assert.deepEqual(
    [74.9, 75, 80].map((packets) => probabilityAt(curve, packets)),
    [0, 1, 1],
  );
  const threshold = lawOf(
    { discipline: "threshold", threshold_packets: 40, limit_packets: 60 },
    60,
    null,
  );
  assert.deepEqual(
    [39.9, 40].map((packets) => probabilityAt(threshold.curve, packets)),
    [0, 1],
  );
});

test("proportional drops grow with the backlog, up to the limit", () => {
  // values of the engine's test: slope 0.002; 0.1 at 50 packets, 0.4 at 200 packets, 1 at 300 packets
  const { curve } = lawOf({ discipline: "proportional", slope: 0.002 }, 300, null);
  for (const [packets, p] of [
    [0, 0],
    [50, 0.1],
    [200, 0.4],
    [300, 1],
  ])
    close(probabilityAt(curve, packets), p);
});

test("other disciplines have no curve, and their notes say so", () => {
  for (const [discipline, word] of [
    ["codel", /time that packets spend/],
    ["fq_codel", /time/],
    ["pie", /time/],
    ["pi", /controller/],
    ["dualpi2", /controller .* 5 ms.* 2 p,/s],
    ["vbs", /share/],
    ["foreign", /not known/],
  ]) {
    const law = lawOf(
      { discipline, target_s: 0.005, target_packets: 200, occupancy: 0.6 },
      100,
      1e8,
    );
    assert.deepEqual(law.curve, []);
    assert.match(law.note, word);
  }
  assert.match(
    lawOf({ discipline: "codel", target_s: 0.005 }, 100, 1e8).note,
    /5 ms, which is 62.5 kB/,
  );
});

test("axes show what happens, and a limit only where it is near", () => {
  const law = lawOf(RED, 1000, null);
  assert.ok(axisEnd(law, 30) > 30 && axisEnd(law, 30) < 60);
  const tail = lawOf({ discipline: "drop_tail" }, 75, null);
  assert.ok(axisEnd(tail, 74) > 75);
  assert.equal(probabilityEnd(tail, 80, 0.01), 1);
  const end = probabilityEnd(law, 6, 0.01);
  assert.ok(end > 0.1 && end < 0.3, `${end}`);
});

const scenario = {
  links: [
    {
      name: "bottleneck",
      rate_bps: 1e8,
      of_host: false,
      queue_packets: 15,
      queue: { discipline: "drop_tail" },
    },
    {
      name: "host",
      rate_bps: 1e6,
      of_host: true,
      queue_packets: 9,
      queue: { discipline: "drop_tail" },
    },
    { name: "managed", rate_bps: 1e8, of_host: false, queue_packets: 300, queue: RED },
  ],
  cell: { ap: { queue_packets: 75, queue: { discipline: "drop_tail" } } },
  wire: { rate_bps: null, queue_packets: 1000, queue: { discipline: "drop_tail" } },
  stations: [{ name: "s", queue_packets: 1000, queue: { discipline: "drop_tail" } }],
};

test("queues of hosts and of a wire without a rate are left out", () => {
  assert.deepEqual(
    queuesOf(scenario).map(({ name }) => name),
    ["managed", "bottleneck", "ap", "s"],
  );
});

test("managed queues come first, then those that drop", () => {
  const item = (name, packets, drops) => ({
    name,
    occupancy_packets: { mean: packets, ci95: null },
    drop_probability: { mean: drops, ci95: null },
  });
  const answer = { queues: [item("s", 160, 0), item("ap", 60, 0.01), item("managed", 1, 0)] };
  assert.deepEqual(
    measuredQueues(queuesOf(scenario), answer).map(({ name }) => name),
    ["managed", "ap", "s"],
  );
  assert.deepEqual(operatingOf(answer, "ap"), { packets: 60, probability: 0.01, sojourn_s: null });
});

test("the range has nine tenths of the samples", () => {
  assert.deepEqual(swingOf([null, ...Array.from({ length: 101 }, (_, k) => k)]), [5, 95]);
  assert.equal(swingOf([null]), null);
});
