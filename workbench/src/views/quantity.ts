/** Titles and units of quantities. */

export interface Measure {
  title: string;
  /** Unit of the quantity, or empty if it has none. */
  unit: string;
  /** Factor from the unit of the result to the displayed unit. */
  scale: number;
}

const PARTS = /(_probability|_rate|_fraction|_share|_delivery)$|^utilisation/;
const COUNTS = new Set(["connections"]);

const WORDS: Record<string, string> = {
  rtt: "RTT",
  cwnd: "cwnd",
  jain: "Jain's index",
  ppdu: "PPDU",
  mpdus: "MPDUs",
  updown: "up/down",
  sd: "standard deviation",
  max: "maximum",
  min: "minimum",
  p05: "5th percentile",
  p50: "median",
  p95: "95th percentile",
  p99: "99th percentile",
};

/** Returns title and unit of a quantity. The value `largest` [s] decides between seconds and milliseconds. */
export function measureOf(quantity: string, largest = 0): Measure {
  if (quantity === "updown_ratio") return { title: "up/down ratio", unit: "", scale: 1 };
  if (quantity === "aggressiveness") return { title: "aggressiveness r", unit: "", scale: 1 };
  if (quantity.endsWith("_bps")) return measure(quantity, "_bps", "Mb/s", 1e-6);
  if (quantity.endsWith("_s")) {
    return largest >= 10 ? measure(quantity, "_s", "s", 1) : measure(quantity, "_s", "ms", 1e3);
  }
  for (const unit of ["packets", "bytes", "pps"]) {
    if (quantity.endsWith(`_${unit}`)) return measure(quantity, `_${unit}`, unit, 1);
  }
  if (PARTS.test(quantity)) return measure(quantity, "", "%", 100);
  return measure(quantity, "", COUNTS.has(quantity) ? "connections" : "", 1);
}

function measure(quantity: string, suffix: string, unit: string, scale: number): Measure {
  const stem = quantity.slice(0, quantity.length - suffix.length);
  const title = stem.replaceAll("_", " ").replace("one way", "one-way").replace(/\w+/g, (word) => WORDS[word] ?? word);
  return { title, unit, scale };
}

/** Returns title and unit as the label of an axis. */
export function axisLabel({ title, unit }: Measure): string {
  return unit && unit !== title ? `${title} [${unit}]` : title;
}
