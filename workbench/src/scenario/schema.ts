/** The JSON schema of scenario files. */

/** A node of a JSON schema, as the engine writes it. */
export interface Node {
  $ref?: string;
  type?: "object" | "string" | "integer" | "number" | "boolean" | "array";
  description?: string;
  default?: unknown;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  oneOf?: Node[];
  items?: Node;
  $defs?: Record<string, Node>;
}

export class Schema {
  readonly #root: Node;

  constructor(root: unknown) {
    this.#root = root as Node;
  }

  /**
   * Follows the `$ref` of a node. Returns the target, in which the description and the default of `node` replace those
   * of the target. A node without `$ref` is returned unchanged.
   */
  resolved(node: Node): Node {
    const name = node.$ref?.split("/").at(-1);
    const target = name === undefined ? undefined : this.#root.$defs?.[name];
    return target ? { ...target, ...node } : node;
  }

  /** Returns the schema node of a key path, or null if the schema lacks the key path. */
  at(path: readonly string[]): Node | null {
    let node: Node | null = this.resolved(this.#root);
    for (const key of path) {
      const table: Node | null = node && this.table(node);
      const named: Node | undefined = table?.properties?.[key];
      const other: Node | boolean | undefined = table?.additionalProperties;
      const next: Node | undefined = named ?? (typeof other === "object" ? other : undefined);
      node = next ? this.resolved(next) : null;
    }
    return node;
  }

  /** Returns the variant of a schema node that is a table. */
  table(node: Node): Node | null {
    return this.variants(node).find((variant) => variant.type === "object") ?? null;
  }

  /** Returns the variants of a schema node that are not tables. */
  scalars(node: Node): Node[] {
    return this.variants(node).filter((variant) => variant.type !== "object");
  }

  variants(node: Node): Node[] {
    const own = this.resolved(node);
    return own.oneOf ? own.oneOf.flatMap((variant) => this.variants(variant)) : [own];
  }
}

/** Returns the words that a key accepts instead of a quantity, such as `never`. */
export function wordsOf(node: Node): string[] {
  if (node.enum) return node.enum;
  const [, words] = /^\^\\s\*\(((?:[a-z]+\|)+)/.exec(node.pattern ?? "") ?? [];
  return words ? words.split("|").filter(Boolean) : [];
}

/** Returns the units that a quantity may have, or an empty list if the node is no quantity. */
export function unitsOf(node: Node): string[] {
  const groups = (node.pattern ?? "").match(/\\s\*(?:\(([^()]+)\)|dB)/g) ?? [];
  const units = (groups.at(-1) ?? "").replace(/^\\s\*/, "").replace(/[()]/g, "").split("|");
  return units.filter((unit) => /^[A-Za-z]+$/.test(unit));
}

/** Returns the default of a key as text. */
export function defaultOf(node: Node): string | null {
  if (node.default !== undefined) {
    return typeof node.default === "string" ? node.default : JSON.stringify(node.default);
  }
  return /Default: (.*?)\.(?:$| [A-Z])/.exec(`${node.description ?? ""}`)?.[1] ?? null;
}
