/** Vertical positions of bars. */

import type { Bar } from "./bars";

/** Heights of the area above the first bar, of a bar, and of a row. [px] */
export const HEAD_PX = 24;
export const BAR_PX = 15;
const ROW_PX = 26;
/** Height of a row if the name is above the bar. [px] */
const NARROW_ROW_PX = 40;
const HEADING_PX = 20;

export interface Row {
  bar: Bar;
  /** Name of the group, at the first bar of a group; null at other bars. */
  heading: string | null;
  heading_y: number;
  /** Top of the bar. `text_y` is the base line of its name, and `bottom` is the end of the row. [px] */
  y: number;
  text_y: number;
  bottom: number;
}

/** Returns the position of each bar. Bars of a group, such as a station's flows, follow a heading with its name. */
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
