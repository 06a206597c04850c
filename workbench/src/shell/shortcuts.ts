/** Keyboard shortcuts, which are active unless a field has the focus. */

export type Action = "help" | "gallery" | "text" | "form" | "results" | "run" | "stop" | "share";

export const SHORTCUTS: readonly { key: string; does: string; action: Action }[] = [
  { key: "?", does: "show these keys", action: "help" },
  { key: "g", does: "open the gallery", action: "gallery" },
  { key: "t", does: "show the text of the scenario", action: "text" },
  { key: "f", does: "show the form of the scenario", action: "form" },
  { key: "r", does: "show the results", action: "results" },
  { key: "s", does: "stop the run", action: "stop" },
  { key: "Ctrl+Enter", does: "run it again, also from within a field", action: "run" },
];

/** Shortcut keys for the areas of the page. */
export const PARTS: readonly { key: string; does: string }[] = [
  { key: "arrows, Home, End", does: "choose a tab or a gallery entry; in the view Air, move to another frame, the first or the last" },
  { key: "+ − Page Up Page Down", does: "in the view Air, zoom and move" },
  { key: "Space", does: "in the view Air, play and pause" },
];

/** Returns the action of a key press, or null for no action and for input in a field. */
export function actionOf(event: KeyboardEvent, areOn: boolean): Action | null {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return "run";
  if (!areOn || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, dialog, [contenteditable=true]")) return null;
  return SHORTCUTS.find(({ key }) => key === event.key)?.action ?? null;
}
