/** Numbers with units, as scenario files write them. */

export interface Quantity {
  /** Number as it is written in the text. */
  number: string;
  unit: string;
}

/** Splits a quantity such as `5 ms`. Returns null for any other text. */
export function quantityOf(text: string): Quantity | null {
  const [, number, unit] = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-zµμ]+)\s*$/.exec(text) ?? [];
  return number === undefined || unit === undefined ? null : { number, unit };
}

const SCALES: Record<string, [string, number][]> = {
  s: [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]],
  bps: [["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3], ["bps", 1]],
  bytes: [["B", 1]],
};

/** Formats a number in an SI unit with a suitable prefix: `0.005` in `s` is `5 ms`. */
export function inWords(value: number, unit: string): string {
  const scales = SCALES[unit];
  if (!scales) return String(value);
  const [name, scale] = scales.find(([, scale]) => Math.abs(value) >= scale) ?? (scales.at(-1) as [string, number]);
  // If the default is zero, typical values of the quantity are small.
  if (value === 0) return `0 ${scales[1]?.[0] ?? name}`;
  return `${Number((value / scale).toPrecision(6))} ${name}`;
}
