/** Draws the lanes of the nodes: frames as boxes, failures by shape and colour, backoffs as slots. */

import { firstFrom, type Frame } from "./frames";
import { fitted, type Segment, strokeLines } from "../chart/canvas";
import { inkOf } from "../chart/ink.svelte";
import { columnsOf } from "./lanes";
import { drawAxis, drawQueues } from "./drawQueues";
import { BOX_PX, LANE_PX, colorOf, framesIn, heightOf, isDense, lanesTop, xOf, type Scene } from "./scene";
import { shortKindOf } from "./words";

const FONT = "system-ui, sans-serif";
/** Number of frames after the visible interval whose countdowns are drawn. Countdowns precede their frames. */
const BEYOND = 80;

export function draw(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const height_px = heightOf(scene);
  ctx.textBaseline = "middle";
  drawAxis(ctx, scene, height_px);
  drawQueues(ctx, scene);
  drawLanes(ctx, scene);
  ctx.save();
  ctx.beginPath();
  ctx.rect(scene.gutter_px, 0, scene.width_px - scene.gutter_px, height_px);
  ctx.clip();
  if (isDense(scene)) {
    drawColumns(ctx, scene);
  } else {
    drawBackoffs(ctx, scene);
    const lane = numbered(scene);
    for (const frame of framesIn(scene)) {
      const at = lane.get(frame.sender);
      if (at !== undefined) drawFrame(ctx, scene, frame, at);
    }
  }
  drawSelected(ctx, scene, height_px);
  ctx.restore();
}

function numbered({ lanes }: Scene): Map<string, number> {
  return new Map(lanes.map((name, at) => [name, at]));
}

function middleOf(scene: Scene, lane: number): number {
  return lanesTop(scene) + (lane + 0.5) * LANE_PX;
}

function drawLanes(ctx: CanvasRenderingContext2D, scene: Scene): void {
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = "left";
  scene.lanes.forEach((name, lane) => {
    const y = middleOf(scene, lane);
    const base = y + BOX_PX / 2 + 0.5;
    strokeLines(ctx, inkOf("rule"), [[scene.gutter_px, base, scene.width_px, base]]);
    ctx.fillStyle = inkOf("ink");
    ctx.fillText(fitted(ctx, name, scene.gutter_px - 8), 0, y);
  });
}

/** Position and width of a frame's rectangle. Its height is `BOX_PX`. */
interface Box {
  left: number;
  top: number;
  wide: number;
}

function boxOf(scene: Scene, { start_s, end_s }: Frame, lane: number, least_px: number): Box {
  const left = xOf(scene, start_s);
  const wide = Math.max(least_px, xOf(scene, end_s) - left);
  return { left, top: middleOf(scene, lane) - BOX_PX / 2, wide };
}

function drawFrame(ctx: CanvasRenderingContext2D, scene: Scene, frame: Frame, lane: number): void {
  const box = boxOf(scene, frame, lane, 1);
  const { left, top, wide } = box;
  ctx.fillStyle = inkOf(colorOf(scene, frame));
  ctx.fillRect(left, top, wide, BOX_PX);
  if (frame.fate === "collided" && wide >= 4) cross(ctx, inkOf("on-fill"), left, top, wide, BOX_PX, 1.5);
  if (frame.fate === "corrupted" && wide >= 3) hatch(ctx, box);
  if (frame.fate === "delivered") drawLost(ctx, frame, box);
  if (frame.discarded) cross(ctx, inkOf("ink"), left + wide + 1, top - 1, 8, 8, 2);
  drawWords(ctx, scene, frame, box);
}

/** Draws a cross over a rectangle. */
function cross(ctx: CanvasRenderingContext2D, color: string, left: number, top: number, wide: number, high: number, width: number) {
  const [right, bottom] = [left + wide, top + high];
  strokeLines(ctx, color, [[left, top, right, bottom], [left, bottom, right, top]], width);
}

/** Draws a hatch pattern over a rectangle. */
function hatch(ctx: CanvasRenderingContext2D, { left, top, wide }: Box) {
  const lines: Segment[] = [];
  for (let x = left - BOX_PX; x < left + wide; x += 6) lines.push([x, top + BOX_PX, x + BOX_PX, top]);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, wide, BOX_PX);
  ctx.clip();
  strokeLines(ctx, inkOf("on-fill"), lines, 1.5);
  ctx.restore();
}

/** Draws the lost MPDUs of an aggregate at their positions in the aggregate. */
function drawLost(ctx: CanvasRenderingContext2D, frame: Frame, { left, top, wide }: Box) {
  if (frame.lost.length === 0 || !frame.mpdus) return;
  const each = wide / frame.mpdus;
  for (const place of frame.lost) {
    const thick = Math.max(1.5, each);
    const x = Math.min(left + place * each, left + wide - thick);
    ctx.fillStyle = inkOf("corrupted");
    ctx.fillRect(x, top, thick, BOX_PX);
    if (thick >= 3) hatch(ctx, { left: x, top, wide: thick });
  }
}

/** Writes type and receiver of a frame into its rectangle, or only the type if there is less room. */
function drawWords(ctx: CanvasRenderingContext2D, scene: Scene, frame: Frame, { left, top, wide }: Box) {
  if (wide < 16) return;
  // the text is centred in the visible part of the rectangle
  const from = Math.max(left, scene.gutter_px);
  const room = Math.min(left + wide, scene.width_px) - from - 4;
  ctx.font = `11px ${FONT}`;
  const kind = shortKindOf(frame);
  const full = frame.receiver === null ? kind : `${kind} → ${frame.receiver}`;
  const text = [full, kind].find((each) => ctx.measureText(each).width <= room);
  if (!text) return;
  const y = top + BOX_PX / 2 + 0.5;
  ctx.textAlign = "center";
  if (frame.fate !== "delivered" || frame.lost.length > 0) {
    ctx.lineWidth = 4;
    ctx.strokeStyle = inkOf(colorOf(scene, frame));
    ctx.strokeText(text, from + room / 2 + 2, y);
  }
  const isPale = !scene.stations && frame.look === "tcp-ack" && frame.fate === "delivered";
  ctx.fillStyle = inkOf(isPale ? "on-tcp-ack" : "on-fill");
  ctx.fillText(text, from + room / 2 + 2, y);
}

/** Draws the backoff slots that nodes count in idle gaps. A thin line shows that a countdown is frozen. */
function drawBackoffs(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const slot_px = xOf(scene, scene.from_s + scene.slot_s) - xOf(scene, scene.from_s);
  if (!(slot_px > 0.15)) return;
  const lane = numbered(scene);
  const { frames, from_s, to_s } = scene;
  const end = Math.min(frames.length, firstFrom(frames, to_s) + BEYOND);
  ctx.font = `10px ${FONT}`;
  for (let at = firstFrom(frames, from_s); at < end; at += 1) {
    const frame = frames[at]!;
    const place = lane.get(frame.sender);
    if (place === undefined || !frame.backoff_slots) continue;
    const countdown = scene.countdown(frame);
    const first = countdown?.stretches.at(-1);
    if (!countdown || !first || first.start_s > to_s) continue;
    const base = middleOf(scene, place) + BOX_PX / 2;
    const begin = xOf(scene, first.start_s);
    ctx.fillStyle = inkOf("backoff");
    ctx.fillRect(begin, base - 2, xOf(scene, frame.start_s) - begin, 1);
    for (const { start_s, end_s, slots } of countdown.stretches) {
      const [left, right] = [xOf(scene, start_s), xOf(scene, end_s)];
      if (right < scene.gutter_px || left > scene.width_px) continue;
      ctx.globalAlpha = slot_px >= 4 ? 0.45 : 0.8;
      ctx.fillRect(left, base - 8, right - left, 8);
      ctx.globalAlpha = 1;
      if (slot_px < 4) continue;
      const marks = Array.from({ length: slots + 1 }, (_, slot) => Math.round(left + slot * slot_px) + 0.5);
      strokeLines(ctx, inkOf("backoff"), marks.map((x) => [x, base - 8, x, base]));
    }
    drawSlots(ctx, scene, frame, first.start_s, base);
  }
}

/** Writes the number of backoff slots at the start of a countdown, if no frame of the sender is at this place. */
function drawSlots(ctx: CanvasRenderingContext2D, scene: Scene, frame: Frame, start_s: number, base: number) {
  const text = String(frame.backoff_slots);
  const left = Math.max(xOf(scene, start_s), scene.gutter_px) + 1;
  const from_s = Math.max(start_s, scene.from_s);
  const first = firstFrom(scene.frames, from_s);
  const before = scene.frames.slice(first, scene.frames.indexOf(frame, first));
  const next = before.find(({ sender }) => sender === frame.sender) ?? frame;
  if (xOf(scene, next.start_s) - left < ctx.measureText(text).width + 2) return;
  ctx.fillStyle = inkOf("soft");
  ctx.textAlign = "left";
  ctx.fillText(text, left, base - 14);
}

/** Draws the load of each pixel column as a bar, and failures from the top of the bar in another colour. */
function drawColumns(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const count = Math.floor(scene.width_px - scene.gutter_px);
  const { from_s, to_s } = scene;
  const { busy, failed } = columnsOf(scene.frames, numbered(scene), [from_s, to_s], count, scene.longest_s);
  const [own, lost] = [inkOf("segment"), inkOf("collided")];
  scene.lanes.forEach((_, lane) => {
    const bottom = middleOf(scene, lane) + BOX_PX / 2;
    const bars = (values: Float32Array, color: string, isTop: boolean) => {
      ctx.fillStyle = color;
      ctx.beginPath();
      for (let column = 0; column < count; column += 1) {
        const part = Math.min(1, values[lane * count + column]!);
        if (part <= 0) continue;
        const high = Math.max(1, part * BOX_PX);
        ctx.rect(scene.gutter_px + column, isTop ? bottom - BOX_PX : bottom - high, 1, high);
      }
      ctx.fill();
    };
    bars(busy, own, false);
    bars(failed, lost, true);
  });
}

function drawSelected(ctx: CanvasRenderingContext2D, scene: Scene, height_px: number): void {
  const frame = scene.selected;
  const lane = frame ? scene.lanes.indexOf(frame.sender) : -1;
  if (!frame || lane < 0 || frame.end_s < scene.from_s || frame.start_s > scene.to_s) return;
  const { left, top, wide } = boxOf(scene, frame, lane, 2);
  ctx.strokeStyle = inkOf("ink");
  ctx.lineWidth = 2.5;
  ctx.strokeRect(left - 2, top - 2, wide + 4, BOX_PX + 4);
  ctx.setLineDash([3, 3]);
  strokeLines(ctx, inkOf("ink"), [[left, 0, left, height_px]]);
  ctx.setLineDash([]);
}
