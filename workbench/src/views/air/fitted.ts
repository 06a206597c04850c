/** Names that fit. */

import { shortened } from "../names";

/** A text, without its middle where there is no room. */
export function fitted(ctx: CanvasRenderingContext2D, text: string, room_px: number): string {
  if (ctx.measureText(text).width <= room_px) return text;
  let most = [...text].length - 1;
  while (most > 3 && ctx.measureText(shortened(text, most)).width > room_px) most -= 1;
  return shortened(text, most);
}
