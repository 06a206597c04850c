/** Functions that read a result: lists, items, quantities. */

import type { Answer, Estimate, Item, Scenario } from "../engine/answers";

/** Returns the lists of items by name, in the order of the result. */
export function listsOf(answer: Answer): [string, Item[]][] {
  return Object.entries(answer).flatMap(([name, value]): [string, Item[]][] =>
    Array.isArray(value) && value.length > 0 && value.every(isItem) ? [[name, value]] : [],
  );
}

function isItem(value: unknown): value is Item {
  return typeof value === "object" && value !== null && "name" in value;
}

/** Returns the items of a list, or no items if the result lacks the list. */
export function itemsOf(answer: Answer | null | undefined, list: string): Item[] {
  const items = answer?.[list];
  return Array.isArray(items) ? items.filter(isItem) : [];
}

/** Returns a quantity of an item, or null if it is missing or has no mean. */
export function estimateOf(item: Item | undefined, quantity: string): Estimate | null {
  const estimate = item?.[quantity];
  if (typeof estimate !== "object" || estimate === null || estimate.mean === null) return null;
  return estimate;
}

export function meanOf(item: Item | undefined, quantity: string): number | null {
  return estimateOf(item, quantity)?.mean ?? null;
}

/** Returns a table of the scenario, or null if it is missing. */
export function tableOf(from: unknown, key: string): Scenario | null {
  const value = (from as Scenario | null | undefined)?.[key];
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Scenario)
    : null;
}

/** Returns a list of tables of the scenario. */
export function tablesOf(from: unknown, key: string): Scenario[] {
  const value = (from as Scenario | null | undefined)?.[key];
  return Array.isArray(value) ? (value as Scenario[]) : [];
}

export function numberOf(from: unknown, key: string): number | null {
  const value = (from as Scenario | null | undefined)?.[key];
  return typeof value === "number" ? value : null;
}

export function textOf(from: unknown, key: string): string | null {
  const value = (from as Scenario | null | undefined)?.[key];
  return typeof value === "string" ? value : null;
}
