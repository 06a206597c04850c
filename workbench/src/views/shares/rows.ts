/** Positions of bars. */

import type { Bar } from "./bars";

/** Height of the area above the first bar, height of a bar, and height of a row. [px] */
export const HEAD_PX = 24;
export const BAR_PX = 15;
const ROW_PX = 26;
/** Height of a row with the name above its bar. [px] */
const NARROW_ROW_PX = 40;
const HEADING_PX = 20;

export interface Row {
  bar: Bar;
  /** Name of a group, at its first bar. */
  heading: string | null;
  heading_y: number;
  /** Vertical positions: top of the bar, base line of its name, and end of the row. [px] */
  y: number;
  text_y: number;
  bottom: number;
}

/** Returns the rows of bars. The flows of a station are below its name. */
export function rowsOf(bars: Bar[], isNarrow: boolean): Row[] {
  const groups = new Set(bars.map((bar) => bar.group));
  const isGrouped = groups.size > 1 && groups.size < bars.length;
  let top = HEAD_PX;
  let last: string | null | undefined;
  return bars.map((bar) => {
    const heading = isGrouped && bar.group !== last ? (bar.group ?? "other flows") : null;
    last = bar.group;
    const headed = heading === null ? top : top + HEADING_PX;
    const y = headed + (isNarrow ? 19 : (ROW_PX - BAR_PX) / 2);
    const bottom = headed + (isNarrow ? NARROW_ROW_PX : ROW_PX);
    const text_y = isNarrow ? headed + 14 : y + 12;
    const row = { bar, heading, heading_y: top + 15, y, text_y, bottom };
    top = bottom;
    return row;
  });
}
