/** Finds terms of the glossary in a text. */

import TERMS from "virtual:terms";

export interface Term {
  name: string;
  /** Spellings of the term that may occur in the page. */
  forms: readonly string[];
  means: string;
}

export interface Piece {
  text: string;
  /** Meaning of the term, or null for text that is no term. */
  means: string | null;
  /** Id of the glossary element that explains the term. */
  id: string;
}

/** Returns the id of a term's element in the glossary of the page. */
export function idOf(term: Term): string {
  return `term-${TERMS.indexOf(term)}`;
}

const byForm = new Map<string, Term>();
for (const term of TERMS) for (const form of term.forms) byForm.set(keyOf(form), term);
const forms = TERMS.flatMap((term) => term.forms).sort((form, other) => other.length - form.length);
const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
const PATTERN = new RegExp(`(?<![\\w-])(?:${escaped.join("|")})(?![\\w-])`, "gi");

/**
 * Returns the key of a spelling in `byForm`. A spelling with two or more capital letters, such as RED or PIE, must
 * match exactly, because "red" and "pie" are also common words. Other spellings match with any capital letters.
 */
function keyOf(form: string): string {
  return /[A-Z].*[A-Z]/.test(form) ? form : form.toLowerCase();
}

/** Splits a text into parts, and marks the first occurrence of each term. */
export function marked(text: string): Piece[] {
  const pieces: Piece[] = [];
  const seen = new Set<Term>();
  let end = 0;
  for (const match of text.matchAll(PATTERN)) {
    const term = byForm.get(keyOf(match[0]));
    if (!term || seen.has(term)) continue;
    seen.add(term);
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), means: null, id: "" });
    pieces.push({ text: match[0], means: term.means, id: idOf(term) });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), means: null, id: "" });
  return pieces;
}
