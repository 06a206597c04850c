/** Searches in sorted lists. */

/** Returns the index of the first item that is not before a position; the length of the list if there is none. */
export function firstIndex<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
