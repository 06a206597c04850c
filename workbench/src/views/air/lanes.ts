/** Who has a lane, and where it is. */

import type { Scenario, Series, Track } from "../../engine/answers";
import { tablesOf, textOf } from "../answer";
import { firstIndex } from "../search";
import { firstFrom, type Frame } from "./frames";

/** Most nodes that all keep their lanes; of more, those have one that send. */
export const ALL_LANES = 10;

/** All nodes of the cell, the access point first. */
export function nodesOf(scenario: Scenario): string[] {
  return ["ap", ...tablesOf(scenario, "stations").map((station) => textOf(station, "name") ?? "")];
}

/** Nodes that have a lane while a stretch is in view. */
export function lanesOf(
  nodes: readonly string[],
  frames: readonly Frame[],
  from_s: number,
  to_s: number,
): string[] {
  if (nodes.length <= ALL_LANES) return [...nodes];
  // those who send just outside keep theirs, so that lanes do not jump while one looks around
  const around_s = to_s - from_s;
  const senders = new Set<string>();
  for (let at = firstFrom(frames, from_s - around_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s > to_s + around_s) break;
    senders.add(frame.sender);
  }
  return nodes.filter((node) => senders.has(node));
}

/** Most queues that are drawn above the lanes. */
export const MOST_QUEUES = 5;

/** Part of the longest queue below which one would be no more than a line at the bottom. */
const LEAST_SEEN = 0.02;

/** Lengths of queues of nodes, those that were longest in a stretch, in the order of nodes. */
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

/** Samples of a stretch and one on either side: first, and behind the last. */
export function sampledIn(series: Series, from_s: number, to_s: number): [number, number] {
  const [first, end] = [from_s, to_s].map((limit_s) => firstIndex(series.time_s, (time_s) => time_s < limit_s)) as [number, number];
  return [Math.max(0, first - 1), Math.min(series.time_s.length, end + 1)];
}

/** How busy each column of pixels of each lane is, where frames are thinner than a pixel. */
export interface Columns {
  /** By lane and column: time on the air, and what of it nobody received. [parts of a column] */
  busy: Float32Array;
  failed: Float32Array;
  count: number;
}

/** Adds up frames of a stretch over `count` columns for each lane. */
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
