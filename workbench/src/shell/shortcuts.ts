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

/** Keys of parts of the page. */
export const PARTS: readonly { key: string; does: string }[] = [
  { key: "arrows, Home, End", does: "another tab or entry of the gallery; in the air another frame, the first, the last" },
  { key: "+ − Page Up Page Down", does: "in the air: zoom, move" },
];

/** What a key does here; null: nothing, or it is meant for a field. */
export function actionOf(event: KeyboardEvent, areOn: boolean): Action | null {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return "run";
  if (!areOn || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, dialog, [contenteditable=true]")) return null;
  return SHORTCUTS.find(({ key }) => key === event.key)?.action ?? null;
}
