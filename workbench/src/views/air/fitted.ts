/** Names that fit. */

/** A text as long as there is room. */
export function fitted(ctx: CanvasRenderingContext2D, text: string, room_px: number): string {
  if (ctx.measureText(text).width <= room_px) return text;
  const signs = [...text];
  while (signs.length > 1 && ctx.measureText(`${signs.join("")}…`).width > room_px) signs.pop();
  return `${signs.join("")}…`;
}
