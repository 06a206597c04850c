/** Positions of keys, values and tables in a TOML text. An incomplete text is parsed as far as possible. */

/** A key with its value. Offsets count characters. */
export interface Entry {
  path: readonly string[];
  key_from: number;
  value_from: number;
  value_to: number;
  table: Table;
}

/** A table: the root of the text, the lines below a header, or an inline table in braces. */
export interface Table {
  kind: "root" | "header" | "inline";
  path: readonly string[];
  /** Offset of the header's opening bracket, or of the opening brace. */
  from: number;
  /** Offset of the end of the table's last entry, or of the closing brace. */
  to: number;
  /** Offset of the end of the header, or of the opening brace. */
  body_from: number;
}

export interface Outline {
  entries: Entry[];
  /** Tables in the order of the text, with the root as the first table. */
  tables: Table[];
}

export function outline(text: string): Outline {
  return new Scanner(text).scan();
}

export function samePath(path: readonly string[], other: readonly string[]): boolean {
  return path.length === other.length && startsWith(path, other);
}

export function startsWith(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((key, at) => path[at] === key);
}

class Scanner {
  readonly #text: string;
  #at = 0;
  readonly #entries: Entry[] = [];
  readonly #tables: Table[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Outline {
    let table: Table = { kind: "root", path: [], from: 0, to: 0, body_from: 0 };
    this.#tables.push(table);
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length) break;
      const begin = this.#at;
      if (this.#text[begin] === "[") {
        const path = this.#header();
        if (path) {
          table = { kind: "header", path, from: begin, to: this.#at, body_from: this.#at };
          this.#tables.push(table);
        }
      } else if (this.#pair(table)) table.to = this.#at;
      this.#skipLine();
    }
    return { entries: this.#entries, tables: this.#tables };
  }

  /** Parses a header such as `[a.b]`. Returns null for any other text. */
  #header(): string[] | null {
    this.#at += 1;
    const isArray = this.#text[this.#at] === "[";
    if (isArray) this.#at += 1;
    const path = this.#keys();
    if (!path || this.#text[this.#at] !== "]") return null;
    this.#at += isArray ? 2 : 1;
    return isArray ? [...path, "[]"] : path;
  }

  /** Parses `key = value` in a table. Returns false for any other text. */
  #pair(table: Table): boolean {
    const key_from = this.#at;
    const keys = this.#keys();
    if (!keys || this.#text[this.#at] !== "=") return false;
    this.#at += 1;
    this.#skipSpaces();
    const path = [...table.path, ...keys];
    const value_from = this.#at;
    const entry: Entry = { path, key_from, value_from, value_to: value_from, table };
    this.#entries.push(entry);
    this.#value(path);
    entry.value_to = this.#at;
    return entry.value_to > value_from;
  }

  #keys(): string[] | null {
    const keys: string[] = [];
    for (;;) {
      this.#skipSpaces();
      const key = this.#key();
      if (key === null) return null;
      keys.push(key);
      this.#skipSpaces();
      if (this.#text[this.#at] !== ".") return keys;
      this.#at += 1;
    }
  }

  #key(): string | null {
    const begin = this.#at;
    const quote = this.#text[begin];
    if (quote === '"' || quote === "'") {
      this.#string();
      const raw = this.#text.slice(begin, this.#at);
      if (quote === "'") return raw.slice(1, -1);
      try {
        return JSON.parse(raw) as string;
      } catch {
        return null;
      }
    }
    while (/[A-Za-z0-9_-]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    return this.#at > begin ? this.#text.slice(begin, this.#at) : null;
  }

  /** Skips a value. The entries of an inline table are recorded if its key path is known. */
  #value(path: readonly string[] | null): void {
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") this.#string();
    else if (first === "[") this.#array();
    else if (first === "{") this.#braces(path);
    else this.#bare();
  }

  #string(): void {
    const quote = this.#text[this.#at] as string;
    const long = quote.repeat(3);
    const isLong = this.#text.startsWith(long, this.#at);
    const end = isLong ? long : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      if (!isLong && this.#text[this.#at] === "\n") return;
      this.#at += quote === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    }
    this.#at = Math.min(this.#at + end.length, this.#text.length);
    // A multi-line string may end with quotation marks before the delimiter.
    while (isLong && this.#text[this.#at] === quote) this.#at += 1;
  }

  #array(): void {
    this.#at += 1;
    for (;;) {
      this.#skipBlank(true);
      const next = this.#text[this.#at];
      if (next === undefined) return;
      if (next === "]") {
        this.#at += 1;
        return;
      }
      const before = this.#at;
      this.#value(null);
      if (this.#at === before) return;
    }
  }

  #braces(path: readonly string[] | null): void {
    const from = this.#at;
    this.#at += 1;
    const table: Table = { kind: "inline", path: path ?? ["[]"], from, to: from, body_from: this.#at };
    if (path) this.#tables.push(table);
    const count = this.#entries.length;
    for (;;) {
      this.#skipBlank(true);
      const next = this.#text[this.#at];
      table.to = this.#at;
      if (next === "}") {
        this.#at += 1;
        break;
      }
      const before = this.#at;
      if (next === undefined || !this.#pair(table) || this.#at === before) {
        table.to = this.#at;
        break;
      }
    }
    if (!path) this.#entries.length = count;
  }

  /** Skips a value without quotes or brackets: a number, a word or a date. */
  #bare(): void {
    const rest = /[^,\]}#\n\r]*/y;
    rest.lastIndex = this.#at;
    this.#at += (rest.exec(this.#text)?.[0] ?? "").trimEnd().length;
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at += 1;
  }

  /** Skips spaces, line ends and comments, and in lists also commas. */
  #skipBlank(inList = false): void {
    for (;;) {
      const next = this.#text[this.#at];
      if (next === "#") this.#skipLine();
      else if (next !== undefined && (/\s/.test(next) || (inList && next === ","))) this.#at += 1;
      else return;
    }
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }
}
