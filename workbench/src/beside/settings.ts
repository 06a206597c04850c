/** Settings over a text, as `--set` lays them. */

/** More settings over those there are; of two for one key the later one stays. */
export function laidOver(settings: readonly string[], more: readonly string[]): string[] {
  const keys = new Set(more.map(keyOf));
  return [...settings.filter((each) => !keys.has(keyOf(each))), ...more];
}

/** What an answer has set, in its order. */
export function settingsFrom(set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).map(([path, value]) => {
    return `${path}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
}

function keyOf(setting: string): string {
  return setting.slice(0, setting.indexOf("=")).trim();
}
