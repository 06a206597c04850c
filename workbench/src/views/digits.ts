/** Number formats for readers, with the rounding of python/lasthop/answers/digits.py. */

const DIGITS = 4;

/**
 * Formats a mean and the half width of its interval. Both are rounded to the first or second digit of the half width.
 */
export function estimate(mean: number | null | undefined, ci95: number | null | undefined): string {
  if (mean === null || mean === undefined) return "-";
  if (!ci95) return plain(mean);
  const places = decimals(mean, ci95);
  const half = ci95.toFixed(places);
  return Number(half) ? `${mean.toFixed(places)} ± ${half}` : plain(mean);
}

/** Formats a number without an interval. */
export function plain(value: number | null | undefined): string {
  if (value === null || value === undefined) return "-";
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(6, Math.max(0, DIGITS - 1 - exponent)));
}

/** Formats a number for a sentence, with three significant digits. */
export function short(value: number): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  return String(Number(value.toFixed(Math.min(6, Math.max(0, 2 - exponent)))));
}

/**
 * Returns the number of decimals. A half width that begins with 10 to 35 has two digits, any other half width has one
 * digit. The mean has at most six digits.
 */
function decimals(mean: number, ci95: number): number {
  const exponent = Math.floor(Math.log10(ci95));
  const wanted = ci95 > 3.55 * 10 ** exponent ? -exponent : 1 - exponent;
  const room = mean ? 5 - Math.floor(Math.log10(Math.abs(mean))) : 6;
  return Math.max(0, Math.min(wanted, room, 6));
}

/** Returns about `count` round values from `least` to `most`, for an axis. */
export function ticks(most: number, count: number, least = 0): number[] {
  const span = most - least;
  if (!(span > 0) || !Number.isFinite(span)) return [least];
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const values: number[] = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most * (1 + 1e-9); k += 1) {
    values.push(Number((k * step).toPrecision(12)));
  }
  return values;
}

/**
 * Returns the labelled values of a logarithmic axis: 1, 2 and 5 times powers of ten. A range of more than 2000 to 1 has
 * only powers of ten. If this gives fewer than three values, values at equal distances are returned.
 */
export function logTicks(least: number, most: number): number[] {
  if (!(least > 0) || !(most > least)) return [];
  const steps = most / least > 2000 ? [1] : [1, 2, 5];
  const values: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power += 1) {
    for (const step of steps) {
      const value = Number((step * 10 ** power).toPrecision(6));
      if (value >= least && value <= most) values.push(value);
    }
  }
  return values.length < 3 ? ticks(most, 5, least) : values;
}
