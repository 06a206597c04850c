/** Draws the time axis, and the queue lengths above the lanes. */

import type { Series, Track } from "../../engine/answers";
import { looks } from "../chart/lines";
import { ticks } from "../digits";
import { fitted, strokeLines } from "../chart/canvas";
import { inkOf } from "../chart/ink.svelte";
import { sampledIn } from "./lanes";
import { AXIS_PX, QUEUE_PX, xOf, type Scene } from "./scene";

const FONT = "system-ui, sans-serif";

/** Draws the time axis. The labels of the axis have so many decimals that all labels differ. */
export function drawAxis(ctx: CanvasRenderingContext2D, scene: Scene, height_px: number): void {
  const { from_s, to_s, gutter_px, width_px } = scene;
  const marks = ticks(to_s, Math.max(2, (width_px - gutter_px) / 90), from_s);
  const step_s = (marks[1] ?? to_s) - (marks[0] ?? from_s);
  const places = Math.min(7, Math.max(0, Math.ceil(-Math.log10(step_s) - 1e-9)));
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = "center";
  for (const mark of marks) {
    const x = Math.round(xOf(scene, mark)) + 0.5;
    strokeLines(ctx, inkOf("rule"), [[x, AXIS_PX - 4, x, height_px]]);
    const text = mark.toFixed(places);
    const half = ctx.measureText(text).width / 2;
    if (x - half < gutter_px - 20 || x + half > width_px) continue;
    ctx.fillStyle = inkOf("soft");
    ctx.fillText(text, x, 9);
  }
  ctx.fillStyle = inkOf("soft");
  ctx.textAlign = "left";
  ctx.fillText("time [s]", 0, 9);
}

export function drawQueues(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const { series, queues, gutter_px, width_px } = scene;
  if (!series || queues.length === 0) return;
  const [first, end] = sampledIn(series, scene.from_s, scene.to_s);
  const most = queues.reduce(
    (longest, { values }) =>
      values.slice(first, end).reduce<number>((peak, each) => Math.max(peak, each ?? 0), longest),
    1,
  );
  const top = AXIS_PX + 4;
  const bottom = AXIS_PX + QUEUE_PX - 8;
  const yOf = (packets: number) => bottom - (packets / (most * 1.05)) * (bottom - top);
  const levels = ticks(most, 2);
  drawLevels(ctx, scene, levels, yOf, bottom);
  ctx.save();
  ctx.beginPath();
  ctx.rect(gutter_px, AXIS_PX, width_px - gutter_px, QUEUE_PX);
  ctx.clip();
  queues.forEach((queue, at) => {
    const { values } = queue;
    const { color, dash } = looks(placeOf(series, queue, at));
    ctx.strokeStyle = inkOf(color);
    ctx.lineWidth = 1.5;
    ctx.setLineDash(dash ?? []);
    ctx.beginPath();
    drawLine(ctx, scene, values, first, end, yOf);
    ctx.stroke();
  });
  ctx.restore();
  ctx.font = `11px ${FONT}`;
  ctx.textAlign = "left";
  ctx.fillStyle = inkOf("soft");
  ctx.fillText("packets", 0, top + 6);
  const levels_px = Math.max(...levels.map((level) => ctx.measureText(String(level)).width));
  queues.forEach((queue, at) => {
    const y = top + 20 + at * 14;
    const { color, dash } = looks(placeOf(series, queue, at));
    ctx.setLineDash(dash ? [3, 2] : []);
    strokeLines(ctx, inkOf(color), [[0, y, 12, y]], 2);
    ctx.setLineDash([]);
    ctx.fillStyle = inkOf("ink");
    ctx.fillText(fitted(ctx, queue.name, gutter_px - levels_px - 24), 16, y);
  });
}

/** Number of different line styles for queues. */
const MAX_LOOKS = 15;

/**
 * Returns the index of a queue's line style. With at most `MAX_LOOKS` queues, the index is that of the queue in the
 * series, so that a queue keeps its style. With more queues, the index is `at`, the position among the drawn queues.
 */
function placeOf({ tracks }: Series, queue: Track, at: number): number {
  const all = tracks.filter(({ quantity }) => quantity === queue.quantity);
  return all.length <= MAX_LOOKS ? all.indexOf(queue) : at;
}

function drawLevels(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  levels: number[],
  yOf: (packets: number) => number,
  bottom: number,
) {
  ctx.font = `11px ${FONT}`;
  ctx.textAlign = "right";
  for (const level of levels) {
    const y = Math.round(yOf(level)) + 0.5;
    strokeLines(ctx, inkOf("rule"), [[scene.gutter_px, y, scene.width_px, y]]);
    ctx.fillStyle = inkOf("soft");
    ctx.fillText(String(level), scene.gutter_px - 3, Math.min(y, bottom));
  }
}

/** Draws a line through the samples. Several samples in one pixel column are drawn as one vertical line. */
function drawLine(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  values: (number | null)[],
  first: number,
  end: number,
  yOf: (packets: number) => number,
): void {
  const times = scene.series!.time_s;
  let column = NaN;
  let [least, most] = [0, 0];
  let isOpen = false;
  for (let at = first; at < end; at += 1) {
    const value = values[at];
    if (value == null) {
      isOpen = false;
      continue;
    }
    const x = xOf(scene, times[at]!);
    if (isOpen && Math.round(x) === column) {
      if (value < least || value > most) ctx.lineTo(x, yOf(value));
      [least, most] = [Math.min(least, value), Math.max(most, value)];
      continue;
    }
    if (isOpen) ctx.lineTo(x, yOf(value));
    else ctx.moveTo(x, yOf(value));
    [column, least, most, isOpen] = [Math.round(x), value, value, true];
  }
}
