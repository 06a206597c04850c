/** Keys that do something wherever the focus is, but in fields. */

export type Action = "help" | "gallery" | "text" | "form" | "results" | "run" | "stop" | "share";

export const SHORTCUTS: readonly { key: string; does: string; action: Action }[] = [
  { key: "?", does: "these keys", action: "help" },
  { key: "g", does: "gallery", action: "gallery" },
  { key: "t", does: "the scenario's text", action: "text" },
  { key: "f", does: "the scenario's form", action: "form" },
  { key: "r", does: "results", action: "results" },
  { key: "s", does: "stop the run", action: "stop" },
  { key: "Ctrl+Enter", does: "run it again, in fields too", action: "run" },
];

/** What a key does here; null: nothing, or it is meant for a field. */
export function actionOf(event: KeyboardEvent, areOn: boolean): Action | null {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return "run";
  if (!areOn || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, dialog, [contenteditable=true]")) return null;
  return SHORTCUTS.find(({ key }) => key === event.key)?.action ?? null;
}
