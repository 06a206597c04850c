/** Settings in the results of commands, in the format of `--set`. */

/** Returns the settings of an answer, in its order. */
export function settingsFrom(set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).map(([path, value]) => {
    return `${path}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
}
