/** Tests of the view of the air: countdowns compared with python/lasthop/plot/countdown.py, and lanes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { busyOf, firstFrom, framesOf } from "../air/frames";
import { accessOf, countdownOf, gapsOf } from "../air/idle";
import { columnsOf, lanesOf, queuesOf } from "../air/lanes";
import { Store } from "../air/store";
import { fieldsOf, tellFrame } from "../air/words";
import recorded from "./countdown.fixture.json";

function framesFrom({ frames }) {
  const none = frames.start_s.map(() => null);
  return framesOf({
    receiver: none,
    bytes: frames.start_s.map(() => 14),
    mpdus: none,
    mpdus_lost: none,
    ...frames,
  });
}

for (const name of Object.keys(recorded)) {
  const { scenario, counted_s } = recorded[name];
  const frames = framesFrom(recorded[name]);
  const access = accessOf(scenario);
  const gaps = gapsOf(frames, access);

  test(`${name}: idle slots before each frame are as many as its backoff`, () => {
    let seen = 0;
    for (const frame of frames.filter(({ backoff_slots }) => backoff_slots)) {
      const { stretches, missing } = countdownOf(frame, gaps, access);
      const slots = stretches.reduce((sum, each) => sum + each.slots, 0);
      assert.equal(missing, 0);
      if (access.countsBusy) assert.ok(slots <= frame.backoff_slots);
      else assert.equal(slots, frame.backoff_slots);
      seen += 1;
    }
    assert.ok(seen > 20);
  });

  test(`${name}: stretches are those that pictures of Python have`, () => {
    frames.forEach((frame, at) => {
      const stretches = countdownOf(frame, gaps, access).stretches;
      assert.equal(stretches.length, counted_s[at].length);
      stretches.forEach(({ start_s, end_s }, k) => {
        const [from_s, to_s] = counted_s[at][k];
        assert.ok(Math.abs(start_s - from_s) < 1e-8 && Math.abs(end_s - to_s) < 1e-8);
      });
    });
  });

  test(`${name}: nobody sends while a countdown runs`, () => {
    for (const frame of frames) {
      for (const { start_s, end_s } of countdownOf(frame, gaps, access).stretches) {
        const { busy } = busyOf(frames, start_s + 1e-7, end_s - 1e-7, 0.1);
        assert.equal(busy, 0);
      }
    }
  });
}

test("frames before a gap in the record are unknown", () => {
  const { scenario } = recorded.vbs;
  const frames = framesFrom(recorded.vbs);
  const access = accessOf(scenario);
  const at = frames.findIndex(({ backoff_slots }, k) => backoff_slots > 8 && k > 40);
  const left = [...frames.slice(0, at - 6), ...frames.slice(at)];
  const gaps = gapsOf(left, access, (place) => place === 0 || place === at - 6);
  const { missing } = countdownOf(frames[at], gaps, access);
  assert.equal(missing, frames[at].backoff_slots);
});

test("a category has its own AIFS, and EIFS follows a failed frame", () => {
  const cell = {
    phy: "802.11b",
    slot_s: 20e-6,
    sifs_s: 10e-6,
    preamble_s: 192e-6,
    eifs_rate_bps: 1e6,
    ap: { aifsn: 2, voice: { aifsn: 1 } },
  };
  const access = accessOf({ cell, stations: [], flows: [{ name: "call", category: "voice" }] });
  assert.ok(Math.abs(access.aifs_s("ap", "call") - 30e-6) < 1e-12);
  assert.ok(Math.abs(access.aifs_s("ap", null) - 50e-6) < 1e-12);
  const lead_s = access.lead_s([{ fate: "collided" }]);
  assert.ok(Math.abs(lead_s - (10e-6 + 192e-6 + 112e-6)) < 1e-12);
  assert.equal(access.lead_s([{ fate: "delivered" }]), 0);
  assert.equal(accessOf({ cell: null }), null);
});

const frames = framesFrom(recorded.vbs);
const end_s = frames.at(-1).end_s;

test("busy time counts frames that overlap once", () => {
  const { frames: count, collided, corrupted, busy } = busyOf(frames, 0, end_s, 0.1);
  assert.equal(count, frames.length);
  assert.deepEqual([collided, corrupted], [2, 6]);
  assert.ok(busy > 0.5 && busy < 1);
});

test("columns of pixels have all time on the air for any number of columns", () => {
  const senders = [...new Set(frames.map(({ sender }) => sender))];
  const lanes = new Map(senders.map((name, at) => [name, at]));
  const sent_s = frames.reduce((sum, frame) => sum + frame.end_s - frame.start_s, 0);
  for (const count of [7, 400]) {
    const { busy, failed } = columnsOf(frames, lanes, [0, end_s], count, 0.1);
    const seen_s = (busy.reduce((sum, part) => sum + part, 0) * end_s) / count;
    assert.ok(Math.abs(seen_s / sent_s - 1) < 1e-4, `${seen_s} ${sent_s}`);
    const lost_s = frames.reduce(
      (sum, { fate, start_s, end_s: to_s }) => sum + (fate === "delivered" ? 0 : to_s - start_s),
      0,
    );
    const found_s = (failed.reduce((sum, part) => sum + part, 0) * end_s) / count;
    assert.ok(Math.abs(found_s / lost_s - 1) < 1e-4, `${found_s} ${lost_s}`);
  }
});

test("few nodes all have lanes, and of many only those that send nearby", () => {
  const nodes = Array.from({ length: 30 }, (_, k) => (k ? `near-${k}` : "ap"));
  assert.equal(lanesOf(nodes.slice(0, 5), frames, 0, 1).length, 5);
  const lanes = lanesOf(nodes, frames, 0, end_s);
  assert.ok(lanes.includes("ap") && lanes.length < 30);
});

test("the queues that are drawn are the longest of the stretch", () => {
  const track = (name, values) => ({ list: "queues", name, quantity: "occupancy_packets", values });
  const series = {
    interval_s: 1,
    time_s: [0, 1, 2, 3, 4, 5],
    tracks: [
      track("ap", [0, 0, 0, 0, 9, 9]),
      track("s", [5, 5, 0, 0, 0, 0]),
      track("wire", [9, 9, 9, 9, 9, 9]),
    ],
  };
  assert.deepEqual(
    queuesOf(series, ["ap", "s"], 0, 1).map(({ name }) => name),
    ["s"],
  );
  assert.deepEqual(
    queuesOf(series, ["ap", "s"], 3, 5).map(({ name }) => name),
    ["ap"],
  );
});

test("the store fetches each block once, and merges blocks in any order", async () => {
  const { frames: columns } = recorded.vbs;
  let calls = 0;
  const air = {
    from_s: 0,
    to_s: end_s,
    frames: async (from_s, to_s) => {
      calls += 1;
      const keep = columns.start_s.map((start_s) => start_s >= from_s && start_s < to_s);
      const none = columns.start_s.map(() => null);
      const all = {
        receiver: none,
        bytes: none.map(() => 14),
        mpdus: none,
        mpdus_lost: none,
        ...columns,
      };
      return Object.fromEntries(
        Object.entries(all).map(([key, list]) => [key, list.filter((_, k) => keep[k])]),
      );
    },
  };
  const store = new Store(air, accessOf(recorded.vbs.scenario), () => {});
  await store.load(0.8 * end_s, end_s);
  assert.ok(store.frames.length > 0 && store.frames.length < frames.length);
  assert.equal(firstFrom(store.frames, 0), 0);
  await store.load(0, end_s);
  assert.deepEqual(store.frames, frames);
  assert.deepEqual(store.gaps, gapsOf(frames, accessOf(recorded.vbs.scenario)));
  const before = calls;
  await store.load(0, end_s);
  assert.equal(calls, before);
});

test("a frame of any kind is described in words", () => {
  const frame = {
    ...frames.find(({ fate }) => fate === "corrupted"),
    sender: "<b>",
    receiver: "ap",
    discarded: true,
  };
  assert.match(tellFrame(frame, null), /<b> sends .* to ap.*: lost to channel errors, discarded\.$/);
  const titles = fieldsOf(frame, null).map(([title]) => title);
  assert.ok(titles.includes("start") && titles.includes("rate") && !titles.includes("MPDUs"));
});

test("a backoff that began before the record is reported once", () => {
  const frame = { ...frames[0], backoff_slots: 6 };
  const sentence = tellFrame(frame, { stretches: [], missing: 6 });
  assert.match(sentence, / after a backoff of 6 slots, which began before the recording/);
  assert.equal(sentence.match(/6 slots|about/g).length, 1);
});
