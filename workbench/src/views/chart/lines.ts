/** Lines and marks of a plot. */

export interface Line {
  label: string;
  values: (number | null)[];
  /** Name of the colour: `--view-NAME`. */
  color: string;
  dash?: number[];
  width?: number;
  shown: boolean;
  /** Opacity of a line in the background. [-] */
  alpha?: number;
  /** Whether the line continues over unknown values. */
  spansGaps?: boolean;
  /** Direction of steps: after each point (1) or before it (-1). */
  isStepped?: 1 | -1;
}

/** A level (`y`) or an instant (`x`) with its name. */
export interface Mark {
  y?: number;
  x?: number;
  label: string;
  color: string;
  dash: number[];
  /** Whether the name of a level is on the left. */
  isLeft?: boolean;
  /** Row of the name of an instant above the plot. */
  row?: number;
}

/** Position and range of the vertical axis of a plot. */
export interface Place {
  top_px: number;
  height_px: number;
  least: number;
  most: number;
}

/** Returns one of fifteen line styles: five solid colours, then the same colours dashed, then dash-dotted. */
export function looks(at: number): { color: string; dash?: number[] } {
  const color = String(1 + (at % 5));
  const dash = [undefined, [6, 4], [9, 3, 2, 3]][Math.floor(at / 5) % 3];
  return dash ? { color, dash } : { color };
}

/** Returns the name of a kept run's line. */
export function ghostName(name: string): string {
  return `${name} (kept)`;
}

/** Returns the line of a kept run, paler and wider than the line of the present run. */
export function ghostOf<L extends Pick<Line, "label">>(line: L): L & { alpha: number; width: number } {
  return { ...line, label: ghostName(line.label), alpha: 0.45, width: 4 };
}
