/** The nodes that have a lane, and the queues above the lanes. */

import type { Scenario, Series, Track } from "../../engine/answers";
import { tablesOf, textOf } from "../answer";
import { firstIndex } from "../search";
import { firstFrom, type Frame } from "./frames";

/** Largest number of nodes that all have a lane. With more nodes, only those that send have a lane. */
export const ALL_LANES = 10;

/** Returns all nodes of the cell, the access point first. */
export function nodesOf(scenario: Scenario): string[] {
  return ["ap", ...tablesOf(scenario, "stations").map((station) => textOf(station, "name") ?? "")];
}

/** Returns the nodes that have a lane while an interval is in view. */
export function lanesOf(
  nodes: readonly string[],
  frames: readonly Frame[],
  from_s: number,
  to_s: number,
): string[] {
  if (nodes.length <= ALL_LANES) return [...nodes];
  // nodes that send shortly before or after the view keep their lanes, so that lanes do not jump when the view moves
  const around_s = to_s - from_s;
  const senders = new Set<string>();
  for (let at = firstFrom(frames, from_s - around_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s > to_s + around_s) break;
    senders.add(frame.sender);
  }
  return nodes.filter((node) => senders.has(node));
}

/** Largest number of queues that are drawn above the lanes. */
export const MOST_QUEUES = 5;

/** Fraction of the longest queue below which a queue is not drawn, since it would be only a line at the bottom. [-] */
const LEAST_SEEN = 0.02;

/** Returns the longest queues of an interval, in the order of nodes. */
export function queuesOf(
  series: Series | null,
  nodes: readonly string[],
  from_s: number,
  to_s: number,
): Track[] {
  if (!series) return [];
  const [first, end] = sampledIn(series, from_s, to_s);
  const tracks = series.tracks.filter(
    ({ quantity, name }) => quantity === "occupancy_packets" && nodes.includes(name),
  );
  const longest = new Map(
    tracks.map((track) => [
      track,
      track.values.slice(first, end).reduce<number>((most, each) => Math.max(most, each ?? 0), 0),
    ]),
  );
  const most = Math.max(0, ...longest.values());
  const chosen = tracks
    .filter((track) => longest.get(track)! > LEAST_SEEN * most)
    .sort((a, b) => longest.get(b)! - longest.get(a)!)
    .slice(0, MOST_QUEUES);
  return tracks.filter((track) => chosen.includes(track));
}

/**
 * Returns the index range of the samples of an interval, with one more sample on each side: the first index, and the
 * end.
 */
export function sampledIn(series: Series, from_s: number, to_s: number): [number, number] {
  const [first, end] = [from_s, to_s].map((limit_s) => firstIndex(series.time_s, (time_s) => time_s < limit_s)) as [number, number];
  return [Math.max(0, first - 1), Math.min(series.time_s.length, end + 1)];
}

/** The load of each column of pixels of each lane, for frames that are thinner than a pixel. */
export interface Columns {
  /** Time on the air, and time on the air that was not received, by lane and column. [fraction of a column] */
  busy: Float32Array;
  failed: Float32Array;
  count: number;
}

/** Adds up the frames of an interval over `count` columns for each lane. */
export function columnsOf(
  frames: readonly Frame[],
  laneOf: ReadonlyMap<string, number>,
  [from_s, to_s]: readonly [number, number],
  count: number,
  longest_s: number,
): Columns {
  const busy = new Float32Array(laneOf.size * count);
  const failed = new Float32Array(laneOf.size * count);
  const perSecond = count / (to_s - from_s);
  for (let at = firstFrom(frames, from_s - longest_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s >= to_s) break;
    const lane = laneOf.get(frame.sender);
    if (lane === undefined) continue;
    const start = Math.max(0, (frame.start_s - from_s) * perSecond);
    const end = Math.min(count, (frame.end_s - from_s) * perSecond);
    for (let column = Math.floor(start); column < end; column += 1) {
      const part = Math.min(end, column + 1) - Math.max(start, column);
      if (part <= 0) continue;
      busy[lane * count + column]! += part;
      if (frame.fate !== "delivered") failed[lane * count + column]! += part;
    }
  }
  return { busy, failed, count };
}
