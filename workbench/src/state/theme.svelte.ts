/** Theme of the page: light, dark, or the theme of the system. */

export type Theme = "system" | "light" | "dark";

const KEY = "lasthop-theme";

/** Returns a value stored by the browser, or null if there is none. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // If the browser cannot store the value, the value is lost when the page is closed.
  }
}

export class Look {
  theme = $state<Theme>("system");

  constructor() {
    const before = stored(KEY);
    if (before === "light" || before === "dark") this.choose(before);
  }

  choose(theme: Theme): void {
    this.theme = theme;
    store(KEY, theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }
}
