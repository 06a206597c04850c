/** Values as the command line writes them: how many there are. */

const RANGE = /^([\d.]+)\s*(\w*)\s*\.\.\s*([\d.]+)\s*(\w*)(?:\s*:\s*([\d.]+)\s*(\w*)|\s+log\s+(\d+))?$/;

/** How many values a list with ranges has; null where that is not plain, as in a range over two units. */
export function countOf(text: string): number | null {
  let count = 0;
  for (const part of partsOf(text)) {
    if (part === "") return null;
    const [, low, unit, high, own, step = "1", by, ratios] = RANGE.exec(part) ?? [];
    if (low === undefined) count += 1;
    else if (ratios) count += Number(ratios);
    else {
      const steps = (Number(high) - Number(low)) / Number(step);
      if (new Set([own || unit, unit || own, by ?? own]).size > 1 || !(steps >= 0)) return null;
      count += Math.floor(steps + 1e-9) + 1;
    }
  }
  return count;
}

/** Parts of a list; commas inside braces, brackets and quotes part nothing. */
function partsOf(text: string): string[] {
  return text.replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, "x").split(",").map((part) => part.trim());
}
