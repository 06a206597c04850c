/** Functions for drawing on a canvas. */

import { shortened } from "../names";

/**
 * Returns a context with CSS pixels as units and the resolution of the screen. Returns null before the canvas has a
 * size.
 */
export function sharp(
  canvas: HTMLCanvasElement | undefined,
  width_px: number,
  height_px: number,
): CanvasRenderingContext2D | null {
  const ctx = canvas?.getContext("2d");
  if (!canvas || !ctx || width_px < 80) return null;
  const [wide, high] = [width_px, height_px].map((each) => Math.round(each * devicePixelRatio));
  if (canvas.width !== wide) canvas.width = wide!;
  if (canvas.height !== high) canvas.height = high!;
  ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  ctx.clearRect(0, 0, width_px, height_px);
  return ctx;
}

/** A straight line from one point to another. */
export type Segment = readonly [from_x: number, from_y: number, to_x: number, to_y: number];

/** Draws straight lines. */
export function strokeLines(ctx: CanvasRenderingContext2D, color: string, segments: readonly Segment[], width = 1): void {
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.beginPath();
  for (const [from_x, from_y, to_x, to_y] of segments) {
    ctx.moveTo(from_x, from_y);
    ctx.lineTo(to_x, to_y);
  }
  ctx.stroke();
}

/** Returns a text that fits into `room_px`. The middle of a longer text is removed. */
export function fitted(ctx: CanvasRenderingContext2D, text: string, room_px: number): string {
  if (ctx.measureText(text).width <= room_px) return text;
  let most = [...text].length - 1;
  while (most > 3 && ctx.measureText(shortened(text, most)).width > room_px) most -= 1;
  return shortened(text, most);
}
