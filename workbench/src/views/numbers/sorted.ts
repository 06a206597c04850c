/** Sorts the rows of a table by a column. */

export interface Order {
  column: number;
  isReversed: boolean;
}

export interface Sorted {
  /** Sorted rows, each with its original row number. */
  rows: { row: string[]; number: number }[];
  isFalling: boolean;
}

/**
 * Sorts rows by a column, or keeps the original order if `order` is null. Numbers are sorted from the largest, texts
 * from A. Cells without a value are last in both directions.
 */
export function sorted(rows: readonly string[][], order: Order | null): Sorted {
  const numbered = rows.map((row, number) => ({ row, number }));
  if (!order) return { rows: numbered, isFalling: false };
  const cells = rows.map((row) => row[order.column] ?? "");
  const values = cells.map(valueOf);
  const areNumbers = cells.every((cell, at) => isEmpty(cell) || !Number.isNaN(values[at] ?? NaN));
  const isFalling = areNumbers !== order.isReversed;
  const sign = isFalling ? -1 : 1;
  numbered.sort((row, other) => {
    const [left, right] = [cells[row.number] ?? "", cells[other.number] ?? ""];
    if (isEmpty(left) || isEmpty(right)) return Number(isEmpty(left)) - Number(isEmpty(right));
    if (areNumbers) return sign * ((values[row.number] ?? 0) - (values[other.number] ?? 0));
    return sign * left.localeCompare(right, "en", { numeric: true });
  });
  return { rows: numbered, isFalling };
}

function isEmpty(cell: string): boolean {
  return cell === "" || cell === "-";
}

/** Returns the number at the start of a cell such as "3.1 ± 0.2". */
function valueOf(cell: string): number {
  const match = /^[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?=$|\s|%)/i.exec(cell.replace(/^\u2212/, "-"));
  return match ? Number(match[0].replaceAll(",", "")) : NaN;
}
