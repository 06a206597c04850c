/** Lines and marks of a plot. */

export interface Line {
  label: string;
  values: (number | null)[];
  /** Name of the colour, for the CSS property `--view-NAME`. */
  color: string;
  dash?: number[];
  width?: number;
  shown: boolean;
  /** Opacity of the line, for lines in the background. [-] */
  alpha?: number;
  /** Whether the line is drawn across unknown values. */
  spansGaps?: boolean;
  /** Type of a stepped line: the step is after each point (1) or before it (-1). */
  isStepped?: 1 | -1;
}

/** A named mark at a vertical value (`y`) or at a time (`x`). */
export interface Mark {
  y?: number;
  x?: number;
  label: string;
  color: string;
  dash: number[];
  /** For a mark with `y`: whether its name is at the left end of the plot instead of the right end. */
  isLeft?: boolean;
  /** For a mark with `x`: index of the row above the plot that contains its name. */
  row?: number;
}

/** Position and range of the vertical axis of a plot. */
export interface Place {
  top_px: number;
  height_px: number;
  least: number;
  most: number;
}

/** Returns one of fifteen line styles: five colours, each solid, dashed or dash-dotted. */
export function looks(at: number): { color: string; dash?: number[] } {
  const color = String(1 + (at % 5));
  const dash = [undefined, [6, 4], [9, 3, 2, 3]][Math.floor(at / 5) % 3];
  return dash ? { color, dash } : { color };
}

/** Returns the name of a line of the kept run. */
export function ghostName(name: string): string {
  return `${name} (kept)`;
}

/** Returns a line of the kept run, which is paler and wider than the corresponding line of the present run. */
export function ghostOf<L extends Pick<Line, "label">>(line: L): L & { alpha: number; width: number } {
  return { ...line, label: ghostName(line.label), alpha: 0.45, width: 4 };
}
