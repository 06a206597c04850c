/**
 * Idle times of the medium, and the slots that a sender counted down before a frame.
 *
 * A countdown is traced backwards from the frame's start through idle gaps, as in python/lasthop/plot/countdown.py. In
 * each gap the sender waits for AIFS, or for EIFS after a failed frame, and then counts slots. Frames of other nodes
 * freeze the countdown.
 */

import type { Scenario } from "../../engine/answers";
import { numberOf, tableOf, tablesOf, textOf } from "../answer";
import { firstIndex } from "../search";
import type { Frame } from "./frames";

/** Largest difference between two times that are considered equal. [s] */
const ROUNDING_S = 1e-7;
const ACK_BYTES = 14;
const OFDM_SYMBOL_S = 4e-6;
const OFDM_SERVICE_AND_TAIL_BITS = 22;
const EXTENSIONS_S: Record<string, number> = { "802.11g": 6e-6, "802.11a": 0 };

/** Rules for the access to the medium. */
export interface Access {
  slot_s: number;
  /** Returns the AIFS of a node for an access category. [s] */
  aifs_s: (node: string, flow: string | null) => number;
  /** Returns EIFS minus AIFS after the frames `last`, which end a busy period; 0 if nodes wait only for AIFS. [s] */
  lead_s: (last: readonly Frame[]) => number;
  /** Whether the backoff counter also decreases in a slot in which another node begins to send (EDCA). */
  countsBusy: boolean;
}

/** A time interval in which the medium is idle, including SIFS between the frames of an exchange. */
export interface Gap {
  start_s: number;
  end_s: number;
  /** Time for which nodes wait in this gap in addition to AIFS, because of EIFS. [s] */
  lead_s: number;
  /** Whether the frames before the gap were fetched. */
  isKnown: boolean;
}

/** Time interval in which a node counted slots. */
export interface Counted {
  start_s: number;
  end_s: number;
  slots: number;
}

export interface Countdown {
  /** Time intervals in which the node counted, from the last interval to the first. */
  stretches: Counted[];
  /** Number of slots that were counted before the recording began. */
  missing: number;
}

/** Returns the access rules of a scenario, or null without a cell. */
export function accessOf(scenario: Scenario): Access | null {
  const cell = tableOf(scenario, "cell");
  const slot_s = numberOf(cell, "slot_s");
  const sifs_s = numberOf(cell, "sifs_s");
  if (!cell || !slot_s || sifs_s === null) return null;
  const nodes = new Map<string, Scenario>([["ap", tableOf(cell, "ap") ?? {}]]);
  for (const station of tablesOf(scenario, "stations")) {
    nodes.set(textOf(station, "name") ?? "", station);
  }
  const categories = new Map<string, string>();
  for (const flow of tablesOf(scenario, "flows")) {
    categories.set(textOf(flow, "name") ?? "", textOf(flow, "category") ?? "");
  }
  const aifs_s = (name: string, flow: string | null): number => {
    const node = nodes.get(name) ?? {};
    const own = tableOf(node, categories.get(flow ?? "") ?? "") ?? node;
    return sifs_s + (numberOf(own, "aifsn") ?? 2) * slot_s;
  };
  const eifsLead_s = sifs_s + frame_s(cell, ACK_BYTES, numberOf(cell, "eifs_rate_bps") ?? 1e6);
  const isExpected = textOf(cell, "eifs") === "expected";
  const lead_s = (last: readonly Frame[]): number => {
    const failed = last.filter(({ fate }) => fate !== "delivered");
    if (failed.length === 0) return 0;
    return isExpected ? sifs_s + Math.max(...failed.map(expectedResponse_s)) : eifsLead_s;
  };
  return { slot_s, aifs_s, lead_s, countsBusy: textOf(cell, "countdown") === "edca" };
}

/** Returns the duration of a frame on the air, including the preamble. [s] */
function frame_s(cell: Scenario, bytes: number, rate_bps: number): number {
  const preamble_s = numberOf(cell, "preamble_s") ?? 0;
  const extension_s = EXTENSIONS_S[textOf(cell, "phy") ?? ""];
  if (extension_s === undefined) return preamble_s + (8 * bytes) / rate_bps;
  const symbolBits = Math.round(rate_bps * OFDM_SYMBOL_S);
  const symbols = Math.ceil((OFDM_SERVICE_AND_TAIL_BITS + 8 * bytes) / symbolBits);
  return preamble_s + symbols * OFDM_SYMBOL_S + extension_s;
}

/** Returns the duration of the response that is part of EIFS (IEEE 802.11-2020, table 10-8). [s] */
function expectedResponse_s({ mcs, rate_bps }: Frame): number {
  if (mcs !== null) return mcs === 0 ? 68e-6 : mcs <= 2 ? 44e-6 : 32e-6;
  const known: Record<number, number> = {
    1: 304,
    2: 248,
    5.5: 248,
    11: 248,
    6: 44,
    9: 44,
    12: 32,
    18: 32,
  };
  return (known[rate_bps / 1e6] ?? 28) * 1e-6;
}

/**
 * Returns the idle gaps between frames, in order of time. `isFirst(at)` returns whether frame number `at` is the first
 * fetched frame after frames that were not fetched. The gap before such a frame is not known.
 */
export function gapsOf(
  frames: readonly Frame[],
  access: Access,
  isFirst: (at: number) => boolean = (at) => at === 0,
): Gap[] {
  const gaps: Gap[] = [];
  let last: Frame[] = [];
  frames.forEach((frame, at) => {
    if (isFirst(at)) {
      const start_s = last[0]?.end_s ?? frame.start_s;
      gaps.push({ start_s, end_s: frame.start_s, lead_s: 0, isKnown: false });
      last = [frame];
      return;
    }
    const end_s = last[0]!.end_s;
    if (frame.start_s > end_s + ROUNDING_S) {
      gaps.push({
        start_s: end_s,
        end_s: frame.start_s,
        lead_s: access.lead_s(last),
        isKnown: true,
      });
    }
    if (frame.end_s > end_s + ROUNDING_S) last = [frame];
    else if (frame.end_s > end_s - ROUNDING_S) last.push(frame);
  });
  return gaps;
}

/** Returns the countdown that the sender made before a frame. */
export function countdownOf(frame: Frame, gaps: readonly Gap[], access: Access): Countdown {
  let missing = frame.backoff_slots ?? 0;
  const stretches: Counted[] = [];
  const wait_s = access.aifs_s(frame.sender, frame.flow);
  let isLast = true;
  const after = firstIndex(gaps, ({ end_s }) => end_s <= frame.start_s + ROUNDING_S);
  for (let at = after - 1; missing > 0 && at >= 0; at -= 1) {
    const gap = gaps[at]!;
    if (!gap.isKnown) break;
    const begin_s = gap.start_s + wait_s + gap.lead_s;
    const room_s = gap.end_s - begin_s;
    const slots = room_s > 0 ? Math.floor((room_s + ROUNDING_S) / access.slot_s) : 0;
    const counted = Math.min(slots, missing);
    if (counted > 0) {
      const start_s = gap.end_s - counted * access.slot_s;
      stretches.push({ start_s, end_s: gap.end_s, slots: counted });
    }
    missing -= counted;
    if (access.countsBusy && !isLast && room_s > -ROUNDING_S && missing > 0) missing -= 1;
    isLast = false;
  }
  return { stretches, missing };
}
