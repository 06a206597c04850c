/** Facts above the bars: sum of the goodputs, and fairness. */

import type { Answer, Item } from "../../engine/answers";
import { estimateOf, itemsOf, meanOf } from "../answer";
import { estimate, plain } from "../digits";

/** Largest number of classes that are listed. */
const MAX_CLASSES = 3;

/** Returns titles and values of the facts about the cell. Without a cell, the facts are about classes, or all flows. */
export function factsOf(answer: Answer | null): [string, string][] {
  const facts: [string, string][] = [];
  const tell = (title: string, item: Item, quantity: string, scale = 1, unit = "") => {
    const value = estimateOf(item, quantity);
    if (value?.mean == null) return;
    const half = value.ci95 === null ? null : value.ci95 * scale;
    facts.push([title, `${estimate(value.mean * scale, half)}${unit}`]);
  };
  const cell = itemsOf(answer, "cells")[0];
  if (cell) {
    tell("Goodput of the cell", cell, "goodput_bps", 1e-6, " Mb/s");
    tell("Jain's index", cell, "jain");
    tell("Up/down ratio", cell, "updown_ratio");
    return facts;
  }
  const classes = itemsOf(answer, "classes");
  for (const item of classes.slice(0, MAX_CLASSES)) {
    const of = classes.length > 1 ? ` of ${item.name}` : "";
    tell(`Goodput${of}`, item, "goodput_bps", 1e-6, " Mb/s");
    tell(`Jain's index${of}`, item, "jain");
  }
  const means = itemsOf(answer, "flows").flatMap((flow) => meanOf(flow, "goodput_bps") ?? []);
  if (facts.length > 0 || means.length < 2) return facts;
  const sum_bps = means.reduce((sum, each) => sum + each, 0);
  facts.push(["Goodput of all flows", `${plain(sum_bps / 1e6)} Mb/s`]);
  return facts;
}
