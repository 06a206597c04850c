/** Short forms of long names. */

/** Returns a name of at most `most` characters. Its middle is removed, since most names differ at their ends. */
export function shortened(name: string, most: number): string {
  const signs = [...name];
  if (signs.length <= most) return name;
  const end = Math.ceil((most - 1) * 0.6);
  return `${signs.slice(0, most - 1 - end).join("")}…${signs.slice(-end).join("")}`;
}
