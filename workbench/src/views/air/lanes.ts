/** Nodes that have a lane in the picture, and queues above the lanes. */

import type { Scenario, Series, Track } from "../../engine/answers";
import { tablesOf, textOf } from "../answer";
import { firstIndex } from "../search";
import { firstFrom, type Frame } from "./frames";

/** Largest number of nodes for which every node has a lane. With more nodes, only sending nodes have a lane. */
export const ALL_LANES = 10;

/** Returns all nodes of the cell. The access point is first. */
export function nodesOf(scenario: Scenario): string[] {
  return ["ap", ...tablesOf(scenario, "stations").map((station) => textOf(station, "name") ?? "")];
}

/** Returns the nodes that have a lane in the visible interval. */
export function lanesOf(
  nodes: readonly string[],
  frames: readonly Frame[],
  from_s: number,
  to_s: number,
): string[] {
  if (nodes.length <= ALL_LANES) return [...nodes];
  // nodes that send shortly before or after the visible interval also have lanes, so that lanes do not jump
  const around_s = to_s - from_s;
  const senders = new Set<string>();
  for (let at = firstFrom(frames, from_s - around_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s > to_s + around_s) break;
    senders.add(frame.sender);
  }
  return nodes.filter((node) => senders.has(node));
}

/** Largest number of queues drawn above the lanes. */
export const MAX_QUEUES = 5;

/** A queue is not drawn if its length is at most this fraction of the longest queue: its line would be flat. [-] */
const MIN_SEEN = 0.02;

/** Returns the queues that are longest in an interval, at most `MAX_QUEUES`, in the order of the series. */
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
    .filter((track) => longest.get(track)! > MIN_SEEN * most)
    .sort((a, b) => longest.get(b)! - longest.get(a)!)
    .slice(0, MAX_QUEUES);
  return tracks.filter((track) => chosen.includes(track));
}

/** Returns the first index of the samples in an interval, and the index after the last, plus one sample at each end. */
export function sampledIn(series: Series, from_s: number, to_s: number): [number, number] {
  const [first, end] = [from_s, to_s].map((limit_s) => firstIndex(series.time_s, (time_s) => time_s < limit_s)) as [number, number];
  return [Math.max(0, first - 1), Math.min(series.time_s.length, end + 1)];
}

/** Load of each pixel column in each lane, for frames narrower than a pixel. */
export interface Columns {
  /** Fraction of a pixel column's time that is on the air, by lane and column. `failed` counts only failed frames. */
  busy: Float32Array;
  failed: Float32Array;
  count: number;
}

/** Returns the load of `count` pixel columns for each lane. */
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
