/** Canvases as sharp as the screen. */

/** What draws on a canvas in CSS pixels; null before it has a size. */
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
