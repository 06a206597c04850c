/** Python beside the page: asked only where the server that sent the page says that it is there. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";

/** What Python says of itself. */
export interface About {
  version: string;
  /** What it can be asked for, by name. */
  commands: readonly string[];
  /** What the page begins with. */
  scenario: { name: string; text: string } | null;
}

/** What a command has answered, with its warnings. */
export interface Told<A> {
  answer: A;
  notes: readonly string[];
}

/** Options of a command; a list is given several times. */
export type Options = Record<string, string | number | readonly string[]>;

/** Status of HTTP: what was asked for was understood, and cannot be done. */
const UNPROCESSABLE = 422;

/** Python would not; the message is for users. */
export class Refused extends Error {
  override name = "Refused";
  readonly hint: string | null;
  /** Whether the scenario is why, and not the server. */
  readonly isOfScenario: boolean;

  constructor(message: string, hint: string | null, status: number) {
    super(message);
    this.hint = hint;
    this.isOfScenario = status === UNPROCESSABLE;
  }
}

export class Api {
  readonly #base: URL;

  constructor(base: URL) {
    this.#base = base;
  }

  async about(): Promise<About> {
    return (await this.#ask("about")) as About;
  }

  async predict(source: Source, signal: AbortSignal): Promise<Told<Answer>> {
    return (await this.run("predict", source, {}, signal)) as Told<Answer>;
  }

  /** Runs a command, with options by name. */
  async run(command: string, source: Source, options: Options, signal: AbortSignal): Promise<Told<unknown>> {
    const { text, settings } = source;
    const told = (await this.#ask(command, { text, settings, options }, signal)) as Told<unknown>;
    // Files that a command has written are gone with its folder.
    return { ...told, notes: told.notes.filter((note) => !/^(picture|tables?): /.test(note)) };
  }

  async #ask(what: string, request?: object, signal: AbortSignal | null = null): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    const posted = request ? { method: "POST", body: JSON.stringify(request), headers } : {};
    const response = await fetch(new URL(what, this.#base), { signal, ...posted });
    const told = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    if (response.ok && told) return told;
    const hint = typeof told?.hint === "string" ? told.hint : null;
    throw new Refused(String(told?.error ?? "the server does not say why"), hint, response.status);
  }
}

/** Python, where the page's server names it and it answers; a static page asks nobody. */
export async function findApi(): Promise<{ api: Api; about: About } | null> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="lasthop-api"]');
  if (!meta) return null;
  const base = new URL(meta.content.replace(/\/?$/, "/"), document.baseURI);
  if (base.origin !== location.origin) return null;
  const api = new Api(base);
  try {
    return { api, about: await api.about() };
  } catch {
    return null;
  }
}
