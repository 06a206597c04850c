/** Settings of an answer, as `--set` has them. */

/** What an answer has set, in its order. */
export function settingsFrom(set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).map(([path, value]) => {
    return `${path}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
}
