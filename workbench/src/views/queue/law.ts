/**
 * Drop curves: the drop probability of a packet as a function of the queue length.
 *
 * The curves are those of crates/engine/src/queue: red.rs (`base_probability`, `spread`), proportional.rs, settings.rs
 * (`most_packets`). A packet that arrives when the queue has `limit` packets is always lost.
 */

import type { Scenario } from "../../engine/answers";
import { numberOf, textOf } from "../answer";
import { short } from "../digits";

/** A point of a drop curve. */
export interface Point {
  packets: number;
  probability: number;
}

/** A named queue length, such as a threshold. */
export interface Level {
  packets: number;
  name: string;
}

export interface Law {
  title: string;
  /**
   * Drop probability as a function of the queue length; empty if the probability does not depend on the queue length.
   */
  curve: Point[];
  /**
   * Fraction of dropped packets at a constant queue length, if the discipline spaces its drops. Empty for other
   * disciplines.
   */
  spaced: Point[];
  levels: Level[];
  /** Note on the picture, such as the quantity that the discipline controls. */
  note: string;
}

/** Returns RED's base probability p_b at an average queue length. */
export function redProbability(red: Scenario, average: number): number {
  const { min_th, max_th, max_p, gentle } = redOf(red);
  if (average < min_th) return 0;
  if (average < max_th) return (max_p * (average - min_th)) / (max_th - min_th);
  if (!gentle) return 1;
  return Math.min(1, max_p + ((1 - max_p) * (average - max_th)) / max_th);
}

/** Returns RED's drop probability p_a of a packet, from p_b and the number `count` of packets since the last drop. */
function spread(p_b: number, wait: boolean, count: number): number {
  const expected = count * p_b;
  if (wait) return expected < 1 ? 0 : expected < 2 ? Math.min(1, p_b / (2 - expected)) : 1;
  return expected < 1 ? Math.min(1, p_b / (1 - expected)) : 1;
}

/**
 * Returns the fraction of packets that RED drops at a constant base probability p_b. RED spaces its drops, so that they
 * are not independent.
 *
 * The fraction is the inverse of the mean distance between drops (Floyd and Jacobson 1993, section VII). The first
 * packet after a drop has the count one.
 */
export function spacedProbability(p_b: number, wait: boolean): number {
  if (p_b <= 0) return 0;
  if (p_b >= 1) return 1;
  let [distance, left] = [0, 1];
  for (let count = 1; left > 1e-9; count += 1) {
    distance += left;
    left *= 1 - spread(p_b, wait, count);
  }
  return 1 / distance;
}

function redOf(red: Scenario) {
  return {
    min_th: numberOf(red, "min_th_packets") ?? 0,
    max_th: numberOf(red, "max_th_packets") ?? 0,
    max_p: numberOf(red, "max_p") ?? 0.1,
    gentle: red["gentle"] === true,
    wait: red["wait"] === true,
  };
}

/** Returns the drop curve of a queue that has room for `limit` packets and drains at `rate_bps`. */
export function lawOf(queue: Scenario, limit: number, rate_bps: number | null): Law {
  const discipline = textOf(queue, "discipline") ?? "drop_tail";
  const full: Level = { packets: limit, name: "limit" };
  switch (discipline) {
    case "drop_tail":
      return { ...step(limit), title: "drop-tail", levels: [full], note: "A packet that arrives at a full queue is dropped." };
    case "threshold": {
      const most = Math.min(numberOf(queue, "threshold_packets") ?? limit, limit);
      const note = "A packet that arrives when the queue has reached the threshold is dropped.";
      return { ...step(most), title: "threshold", levels: [{ packets: most, name: "threshold" }], note };
    }
    case "red":
      return red(queue, full);
    case "proportional": {
      const slope = numberOf(queue, "slope") ?? 0;
      const end = Math.min(limit, 1 / slope);
      const curve = [at(0, 0), at(end, Math.min(1, slope * end)), at(end, 1), at(2 * limit, 1)];
      const note = `Each packet in the queue adds ${short(100 * slope)} % to the drop probability of an arriving packet.`;
      return { title: "proportional", curve, spaced: [], levels: [full], note };
    }
    case "pi": {
      const target = { packets: numberOf(queue, "target_packets") ?? 0, name: "target" };
      const note =
        "The drop probability is not a function of the queue length. A controller raises it while the queue is above its target, and lowers it while the queue is below.";
      return { ...NO_CURVE, title: "PI", levels: [target, full], note };
    }
    case "codel":
    case "fq_codel":
    case "mac80211":
    case "pie":
      return delayed(discipline, queue, full, rate_bps);
    case "dualpi2":
      return coupled(queue, full);
    case "vbs": {
      const part = numberOf(queue, "occupancy") ?? 0;
      const target = { packets: part * limit, name: "target occupancy" };
      const note =
        "Virtual buffer sharing blocks classes that exceed their share, to keep the queue at a fraction of its limit. The drop probability does not depend only on the queue length.";
      return { ...NO_CURVE, title: "VBS", levels: [target, full], note };
    }
    default:
      return { ...NO_CURVE, title: discipline, levels: [full], note: "The drop curve of this discipline is not known here." };
  }
}

/** Empty curves, for a discipline whose drop probability does not depend on the queue length. */
const NO_CURVE: Pick<Law, "curve" | "spaced"> = { curve: [], spaced: [] };

function at(packets: number, probability: number): Point {
  return { packets, probability };
}

function step(limit: number): Pick<Law, "curve" | "spaced"> {
  return { curve: [at(0, 0), at(limit, 0), at(limit, 1), at(2 * limit, 1)], spaced: [] };
}

const STEPS = 24;

function red(queue: Scenario, full: Level): Law {
  const { min_th, max_th, max_p, gentle, wait } = redOf(queue);
  const last = gentle ? 2 * max_th : max_th;
  const averages = [0, min_th];
  for (let k = 1; k <= STEPS; k += 1) averages.push(min_th + ((max_th - min_th) * k) / STEPS);
  if (gentle) for (let k = 1; k <= STEPS; k += 1) averages.push(max_th + (max_th * k) / STEPS);
  const just = (average: number) =>
    // drop probability just below max_th, where the curve jumps unless `gentle` is set
    average === max_th && !gentle ? max_p : redProbability(queue, average);
  const curve = averages.map((average) => at(average, just(average)));
  const end = 2 * Math.max(full.packets, last);
  curve.push(at(last, 1), at(end, 1));
  const spaced = curve.map(({ packets, probability }) =>
    at(packets, spacedProbability(probability, wait)),
  );
  const form =
    textOf(queue, "form") === "published"
      ? "as published"
      : "as in ns-2, which does not count the packet in service";
  const bytes =
    queue["bytes"] === true
      ? " RED counts bytes here, and the thresholds are in packets of average length."
      : "";
  const weight = queue["weight"] === 1 ? "the queue itself" : "the average queue";
  const levels = [{ packets: min_th, name: "min_th" }, { packets: max_th, name: "max_th" }, full];
  const note = `RED computes p_b from ${weight} (${form}). It spaces its drops. The dashed curve is the fraction of packets that it drops while p_b is constant.${bytes}`;
  return { title: "RED", curve, spaced, levels, note };
}

/** Returns the curves of a discipline that controls the waiting time. */
function delayed(discipline: string, queue: Scenario, full: Level, rate_bps: number | null): Law {
  const title = { codel: "CoDel", fq_codel: "FQ-CoDel", mac80211: "mac80211", pie: "PIE" }[discipline] ?? discipline;
  const target_s = numberOf(queue, "target_s") ?? 0;
  const rate = rate_bps
    ? `, which is ${short((target_s * rate_bps) / 8 / 1000)} kB at this rate`
    : "";
  const note = `${title} controls the time that packets spend in the queue, not the queue length. Its target is ${short(target_s * 1e3)} ms${rate}.`;
  return { ...NO_CURVE, title, levels: [full], note };
}

/** Returns the curves of DualPI2, whose two queues are coupled by the base probability of a controller. */
function coupled(queue: Scenario, full: Level): Law {
  const target_s = numberOf(queue, "target_s") ?? 0;
  const k = numberOf(queue, "coupling") ?? 2;
  const note =
    `A controller adjusts a base probability p so that classic packets wait for ${short(target_s * 1e3)} ms. They are ` +
    `dropped or marked with probability p². L4S packets are marked with ${short(k)} p, or according to their own delay.`;
  return { ...NO_CURVE, title: "DualPI2", levels: [full], note };
}

/** Returns the drop probability of a curve at a queue length. */
export function probabilityAt(curve: readonly Point[], packets: number): number {
  let before = curve[0];
  for (const point of curve) {
    if (before && point.packets > packets) {
      const span = point.packets - before.packets;
      const part = span > 0 ? (packets - before.packets) / span : 1;
      return before.probability + part * (point.probability - before.probability);
    }
    before = point;
  }
  return before?.probability ?? 0;
}

/** Returns the end of the axis of queue lengths. The axis includes all measured lengths and all marked lengths. */
export function axisEnd(law: Law, longest: number): number {
  const inner = law.levels.filter(({ name }) => name !== "limit").map(({ packets }) => packets);
  const needed = Math.max(longest, ...inner, 1) * 1.12;
  const limit = law.levels.find(({ name }) => name === "limit")?.packets ?? 0;
  return limit <= 1.8 * needed ? Math.max(needed, limit * 1.08) : needed;
}

/**
 * Returns the end of the probability axis. It is 1 if the curve only steps from 0 to 1. For other curves, it is a
 * little above the largest probability that is visible or measured.
 */
export function probabilityEnd(law: Law, end_packets: number, measured: number): number {
  const inView = law.curve.filter(
    ({ packets, probability }) => packets <= end_packets && probability < 1,
  );
  const most = Math.max(0, ...inView.map(({ probability }) => probability));
  const isStep = law.curve.length > 0 && most === 0;
  if (isStep) return 1;
  const sloping = probabilityAt(
    law.curve,
    Math.min(end_packets, law.levels[1]?.packets ?? end_packets) * 0.999,
  );
  const wanted = Math.max(measured * 1.6, sloping * 1.3, 1e-4);
  return Math.min(1, wanted);
}
