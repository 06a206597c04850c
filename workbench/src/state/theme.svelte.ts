/** Light or dark: as the system has it, unless somebody says otherwise. */

export type Theme = "system" | "light" | "dark";

const KEY = "lasthop-theme";

/** What the browser keeps; null where it keeps nothing. */
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
    // A browser that keeps nothing forgets it with the page.
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
