/** Colours of the theme for drawings on a canvas, which cannot use CSS custom properties. */

let version = $state(0);
/** Colours of the present theme, keyed by name. */
const inks = new Map<string, string>();

if (typeof window !== "undefined") {
  const renew = () => {
    inks.clear();
    version += 1;
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renew);
  new MutationObserver(renew).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme", "class", "style"],
  });
}

/** Returns a number that increases when the theme changes. A Svelte effect that reads the number then runs again. */
export function themeVersion(): number {
  return version;
}

/** Returns the colour `--view-NAME` of the present theme. */
export function inkOf(name: string): string {
  let ink = inks.get(name);
  if (ink === undefined) {
    const { style } = document.body;
    style.color = `var(--view-${name})`;
    ink = getComputedStyle(document.body).color;
    style.color = "";
    inks.set(name, ink);
  }
  return ink;
}
