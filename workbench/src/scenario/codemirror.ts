/** Editor for the scenario text, which is loaded after the page. */

import { autocompletion, closeBrackets, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { history, historyKeymap, moveLineDown, moveLineUp, standardKeymap, toggleComment } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "../engine/answers";
import { offersAt } from "./completion";
import { placeOf, toldOf } from "./problems";
import type { Schema } from "./schema";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--code-number)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
]);

/** Key bindings in addition to the editor's standard bindings. */
const LINES = [
  { key: "Mod-/", run: toggleComment },
  { key: "Alt-ArrowUp", run: moveLineUp },
  { key: "Alt-ArrowDown", run: moveLineDown },
];

export interface Editor {
  /** Replaces the text. The user can undo the replacement. */
  put(text: string): void;
  tell(problems: readonly Problem[]): void;
  /** Moves the cursor to a line, numbered from 1. */
  go(line: number): void;
  focus(): void;
  close(): void;
}

/** Opens the editor in an HTML element. */
export function openEditor(
  parent: HTMLElement,
  text: string,
  schema: () => Schema | null,
  changed: (text: string) => void,
): Editor {
  const complete = (context: CompletionContext) => {
    const known = schema();
    const word = context.matchBefore(/[A-Za-z0-9_."-]+/);
    if (!known || (!word && !context.explicit)) return null;
    const completions = offersAt(known, context.state.doc.toString(), context.pos);
    return (
      completions && {
        from: completions.from,
        validFor: /^[A-Za-z0-9_"-]*$/,
        options: completions.offers.map(({ label, text, detail, description }) => ({
          label,
          apply: text,
          detail,
          info: description,
        })),
      }
    );
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        closeBrackets(),
        highlightActiveLine(),
        StreamLanguage.define(toml),
        syntaxHighlighting(colours),
        autocompletion({ override: [complete] }),
        keymap.of([...LINES, ...standardKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": "Scenario, TOML",
          tabindex: "0", // elements that scroll can be reached by keyboard
          "aria-describedby": "problems",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    put(next) {
      const now = view.state.doc.toString();
      if (now === next) return;
      view.dispatch({ changes: difference(now, next) });
    },
    tell(problems) {
      const now = view.state.doc.toString();
      // A problem of an override has no position in the text.
      const own = problems.filter(({ setting }) => setting === null);
      const diagnostics = own.map((problem): Diagnostic => {
        const { from, to } = placeOf(now, problem);
        return { from, to, severity: "error", message: toldOf(problem) };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    go(line) {
      const known = Math.min(Math.max(1, line), view.state.doc.lines);
      const { from } = view.state.doc.line(known);
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

/** Returns one change that turns the text `before` into the text `after`. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let behind = 0;
  while (behind < shorter - from && before.at(-1 - behind) === after.at(-1 - behind)) behind += 1;
  return { from, to: before.length - behind, insert: after.slice(from, after.length - behind) };
}
