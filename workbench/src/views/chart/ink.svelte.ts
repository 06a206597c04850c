/** Colours of the theme for what is drawn on a canvas, which knows no custom properties. */

let version = $state(0);

if (typeof window !== "undefined") {
  const renew = () => (version += 1);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renew);
  new MutationObserver(renew).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme", "class", "style"],
  });
}

/** Grows with each change of the theme: who reads it in an effect draws anew. */
export function themeVersion(): number {
  return version;
}

/** The colour `--view-NAME` at an element. */
export function inkOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(`--view-${name}`).trim() || "#888888";
}
