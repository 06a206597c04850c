/** Table of predicted and simulated values, as in `lasthop compare`. */

import type { Answer } from "../engine/answers";
import { estimateOf, itemsOf } from "../views/answer";
import { estimate, plain } from "../views/digits";
import { columnsOf, type Table } from "../views/numbers/tables";
import { axisLabel, measureOf } from "../views/quantity";

/** One quantity of one item, predicted and simulated. */
export interface Row {
  name: string;
  quantity: string;
  predicted: number;
  simulated: number;
  /** Half width of the simulation's confidence interval, or null. */
  ci95: number | null;
}

/** Lists of the result, in the order of the table. Lists of sums over flows, such as classes and stations, precede the
 * list of flows. */
const LISTS = ["cells", "aps", "classes", "links", "queues", "stations", "flows"];

/**
 * Returns the quantities that prediction and simulation have in common. Flows are left out if stations or classes have
 * the sums over these flows. A row is also left out if both values are 0, or if another row of the item has the same
 * two values.
 */
export function rowsOf(predicted: Answer, simulated: Answer): Row[] {
  const isSummed = ["stations", "classes"].some((list) => itemsOf(predicted, list).length > 0);
  const rows = LISTS.filter((list) => list !== "flows" || !isSummed).flatMap((list) => {
    const ours = new Map(itemsOf(simulated, list).map((item) => [item.name, item]));
    return itemsOf(predicted, list).flatMap((item) =>
      Object.keys(item).flatMap((quantity): Row[] => {
        const guess = estimateOf(item, quantity)?.mean;
        const seen = estimateOf(ours.get(item.name), quantity);
        if (guess == null || seen?.mean == null) return [];
        return [{ name: item.name, quantity, predicted: guess, simulated: seen.mean, ci95: seen.ci95 }];
      }),
    );
  });
  const order = [...new Set(rows.map(({ quantity }) => quantity))];
  const known = new Set<string>();
  const isNews = ({ name, predicted, simulated }: Row) => {
    const key = JSON.stringify([name, predicted, simulated]);
    return (predicted || simulated) && !known.has(key) && known.add(key);
  };
  return rows.filter(isNews).sort((row, other) => order.indexOf(row.quantity) - order.indexOf(other.quantity));
}

/** Returns the difference as a percentage of the prediction, or null if the prediction is 0. */
export function percentOf({ predicted, simulated }: Row): number | null {
  return predicted === 0 ? null : (100 * (simulated - predicted)) / Math.abs(predicted);
}

/** Returns the difference divided by the half width of the interval, or null without an interval. */
export function halfWidthsOf({ predicted, simulated, ci95 }: Row): number | null {
  return ci95 ? (simulated - predicted) / ci95 : null;
}

export function tableOf(rows: readonly Row[]): Table {
  return {
    title: "Predicted and simulated",
    columns: columnsOf("name", "quantity", "predicted", "simulated", "difference [%]", "difference [half widths]"),
    rows: rows.map((row) => {
      const alike = rows.filter(({ quantity }) => quantity === row.quantity);
      const measure = measureOf(row.quantity, Math.max(...alike.map(({ simulated }) => simulated)));
      const { scale } = measure;
      return [
        row.name,
        axisLabel(measure),
        plain(row.predicted * scale),
        estimate(row.simulated * scale, row.ci95 === null ? null : row.ci95 * scale),
        signed(percentOf(row)),
        signed(halfWidthsOf(row)),
      ];
    }),
  };
}

function signed(value: number | null): string {
  if (value === null) return "-";
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
  return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
}
