/** What a plot is given. */

export interface Line {
  label: string;
  values: (number | null)[];
  /** Name of the colour: `--view-NAME`. */
  color: string;
  dash?: number[];
  width?: number;
  shown: boolean;
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
  /** Names of instants stand one below the other. */
  row?: number;
}

/** Where the upright axis of a plot lies, and what it shows. */
export interface Place {
  top_px: number;
  height_px: number;
  least: number;
  most: number;
}

/** Six colours, then the same dashed: a dozen lines, told apart not by colour alone. */
export function looks(at: number): { color: string; dash?: number[] } {
  const color = String(1 + (at % 6));
  return at % 12 < 6 ? { color } : { color, dash: [6, 4] };
}
