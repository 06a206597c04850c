/** Content of a picture of the air, and positions of frames in the picture. */

import type { Series, Track } from "../../engine/answers";
import { firstFrom, type Frame } from "./frames";
import type { Countdown } from "./idle";

export const LANE_PX = 34;
export const BOX_PX = 20;
export const AXIS_PX = 22;
export const QUEUE_PX = 98;

export interface Scene {
  width_px: number;
  /** Width of the area at the left that contains names. [px] */
  gutter_px: number;
  from_s: number;
  to_s: number;
  lanes: readonly string[];
  frames: readonly Frame[];
  longest_s: number;
  slot_s: number;
  countdown: (frame: Frame) => Countdown | null;
  queues: readonly Track[];
  series: Series | null;
  selected: Frame | null;
  /** Index of each node, which determines its colour (the access point has 0); null if colours show types of frames. */
  stations: ReadonlyMap<string, number> | null;
}

/** Number of colours for stations. Further stations repeat the colours. */
export const COLORS = 5;

/** Returns the name of the colour of a frame. */
export function colorOf({ stations }: Pick<Scene, "stations">, frame: Frame): string {
  if (frame.fate !== "delivered") return frame.fate;
  if (!stations) return frame.look;
  // the access point sends or receives every frame, so that the other node determines the colour
  const isFromAp = stations.get(frame.sender) === 0 && frame.receiver !== null;
  const number = stations.get(isFromAp ? (frame.receiver as string) : frame.sender) ?? 0;
  return String(1 + ((number + COLORS - 1) % COLORS));
}

export function heightOf(scene: Pick<Scene, "lanes" | "queues">): number {
  return lanesTop(scene) + scene.lanes.length * LANE_PX + 4;
}

/** Returns the vertical position of the first lane's top. [px] */
export function lanesTop({ queues }: Pick<Scene, "queues">): number {
  return AXIS_PX + (queues.length > 0 ? QUEUE_PX : 0);
}

export function xOf(scene: Scene, time_s: number): number {
  const { gutter_px, width_px, from_s, to_s } = scene;
  return gutter_px + ((time_s - from_s) / (to_s - from_s)) * (width_px - gutter_px);
}

export function timeOf(scene: Scene, x_px: number): number {
  const { gutter_px, width_px, from_s, to_s } = scene;
  return from_s + ((x_px - gutter_px) / (width_px - gutter_px)) * (to_s - from_s);
}

/** Returns whether the load of pixel columns must be drawn, because a pixel column contains several frames. */
export function isDense(scene: Scene): boolean {
  const { frames, from_s, to_s } = scene;
  return (
    firstFrom(frames, to_s) - firstFrom(frames, from_s) > (scene.width_px - scene.gutter_px) * 0.7
  );
}

/** Yields the visible frames in order. */
export function* framesIn(scene: Scene): Generator<Frame> {
  const { frames, from_s, to_s, longest_s } = scene;
  for (let at = firstFrom(frames, from_s - longest_s); at < frames.length; at += 1) {
    const frame = frames[at]!;
    if (frame.start_s >= to_s) return;
    if (frame.end_s > from_s) yield frame;
  }
}

const REACH_PX = 5;

/** Returns the frame at a point of the picture, or the nearest frame within a few pixels. */
export function frameAt(scene: Scene, x_px: number, y_px: number): Frame | null {
  const lane = scene.lanes[Math.floor((y_px - lanesTop(scene)) / LANE_PX)];
  let best: Frame | null = null;
  let least_px = REACH_PX;
  for (const frame of framesIn(scene)) {
    if (frame.sender !== lane) continue;
    const away_px = Math.max(xOf(scene, frame.start_s) - x_px, x_px - xOf(scene, frame.end_s), 0);
    if (away_px < least_px) [best, least_px] = [frame, away_px];
  }
  return best;
}
