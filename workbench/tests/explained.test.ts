/** Tests of explanations as sentences. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { sentencesOf } from "../src/views/explained";

const value = (mean: number, ci95: number | null = null) => ({ mean, ci95 });

test("calls that are not good come first, then limits and a few causes", () => {
  const cause = (id: string) => ({ id, subject: "wire/up", objective: "calls", sentence: `Cause ${id}.` });
  const call = { name: "phone", flows: ["phone/udp-up/1"], delay_p99_s: value(0.326, 0.065), loss: value(0.002) };
  const sentences = sentencesOf({
    calls: [
      { ...call, direction: "up", verdict: "bad", waits_at: "wire/up", wait_share: 0.93 },
      { ...call, direction: "down", verdict: "good" },
    ],
    delays: [],
    limits: [
      { flows: ["laptop/up/1", "laptop/up/2"], all: false, by: "line", where: "wire/up", fraction: 0.934 },
      { flows: ["a", "b"], all: true, by: "cwnd", fraction: 0.5 },
      { flows: ["tv/down/1"], all: false, by: "acks", where: "wire/up", fraction: 0.97 },
      { flows: ["tv/down/2"], all: false, by: "losses", where: "ap", fraction: 0.001 },
    ],
    air: { station: "old", airtime_fraction: 0.7, goodput_share: 0.1 },
    causes: ["1", "2", "3", "4"].map(cause),
  });
  assert.deepEqual(sentences, [
    "The call of phone, up, is bad: 99 % of packets arrive within 326 ± 65 ms, and 0.2 % are lost. They wait longest in wire/up, 93 % of their waiting time.",
    "Station old uses 70 % of the air for 10 % of the goodput.",
    "laptop/up/1 and 1 more are limited by the line wire/up, which is busy 93 % of the time.",
    "All TCP flows are limited by the congestion window for 50 % of the time.",
    "tv/down/1 is limited by the line of its ACKs, wire/up, which is busy 97 % of the time.",
    "tv/down/2 is limited by losses in ap.",
    "Cause 1.", "Cause 2.", "Cause 3.",
  ]);
});
