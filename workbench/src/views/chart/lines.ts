/** What a plot is given. */

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
  /** Holds its value until the next point (1), or has had it since the last (-1). */
  isStepped?: 1 | -1;
}

/** A level (`y`) or an instant (`x`) with its name. */
export interface Mark {
  y?: number;
  x?: number;
  label: string;
  color: string;
  dash: number[];
  /** Whether a level has its name on the left. */
  isLeft?: boolean;
  /** Names of instants stand above the plot, one below the other. */
  row?: number;
}

/** Where the upright axis of a plot lies, and what it shows. */
export interface Place {
  top_px: number;
  height_px: number;
  least: number;
  most: number;
}

/** Five colours, then the same dashed, then in dashes and dots: a dozen lines and more. */
export function looks(at: number): { color: string; dash?: number[] } {
  const color = String(1 + (at % 5));
  const dash = [undefined, [6, 4], [9, 3, 2, 3]][Math.floor(at / 5) % 3];
  return dash ? { color, dash } : { color };
}

/** The name of a kept run's line. */
export function ghostName(name: string): string {
  return `${name} (kept)`;
}

/** A line of a kept run: paler and wider than the line of the present run. */
export function ghostOf<L extends Pick<Line, "label">>(line: L): L & { alpha: number; width: number } {
  return { ...line, label: ghostName(line.label), alpha: 0.45, width: 4 };
}
