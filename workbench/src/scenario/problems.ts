/** Positions and messages of a scenario text's problems. */

import type { Problem } from "../engine/answers";
import { outline } from "./outline";

/** Returns the range of text to mark for a problem: its key and value, its line, or the first line without a line. */
export function placeOf(text: string, problem: Problem): { from: number; to: number } {
  const [from, to] = lineOf(text, problem.line ?? 1);
  if (problem.line !== null && problem.path !== null) {
    const path = problem.path.split(".");
    const entry = outline(text).entries.find(
      (candidate) => candidate.key_from >= from && candidate.key_from <= to && candidate.path.join(".") === path.join("."),
    );
    if (entry) return { from: entry.key_from, to: Math.max(entry.value_to, entry.key_from) };
  }
  return { from, to };
}

/** Returns the message of a problem with its hint. A suggestion is placed before the accepted values. */
export function toldOf({ message, hint }: { message: string; hint: string | null }): string {
  const list = "; expected ";
  const at = message.indexOf(list);
  if (!hint?.startsWith("did you mean") || at < 0) return hint ? `${message}; ${hint}` : message;
  return `${message.slice(0, at)}; ${hint} Expected ${message.slice(at + list.length)}`;
}

function lineOf(text: string, line: number): [number, number] {
  let from = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", from);
    if (end < 0) break;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  return [from, end < 0 ? text.length : end];
}
