/** Python beside the page: asked only where the server that sent the page says that it is there. */

import type { Answer } from "../engine/answers";
import type { Source } from "../engine/engine";

/** What Python says of itself. */
export interface About {
  version: string;
  /** What it can be asked for, by name. */
  can: readonly string[];
}

/** Python would not; the message is for users. */
export class Refused extends Error {
  override name = "Refused";
  readonly hint: string | null;

  constructor(message: string, hint: string | null) {
    super(message);
    this.hint = hint;
  }
}

export class Api {
  readonly #base: URL;

  constructor(base: URL) {
    this.#base = base;
  }

  async about(): Promise<About> {
    const told = (await this.#ask("about", undefined)) as Partial<About>;
    return { version: String(told.version ?? ""), can: Array.isArray(told.can) ? told.can : [] };
  }

  async predict(source: Source, signal: AbortSignal): Promise<Answer> {
    return (await this.#ask("predict", source, signal)) as Answer;
  }

  async #ask(what: string, body?: object, signal: AbortSignal | null = null): Promise<unknown> {
    const posted = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(new URL(what, this.#base), { signal, ...(body ? posted : {}) });
    const told = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    if (response.ok && told) return told;
    const message = told?.message ?? told?.error ?? `no answer (${response.status})`;
    throw new Refused(String(message), typeof told?.hint === "string" ? told.hint : null);
  }
}

/** The interface that the page's server names; null on a static page, which asks nobody. */
export async function findApi(): Promise<{ api: Api; about: About } | null> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="lasthop-api"]');
  if (!meta) return null;
  const base = new URL(meta.content.replace(/\/?$/, "/") || "./api/", document.baseURI);
  if (base.origin !== location.origin) return null;
  const api = new Api(base);
  try {
    return { api, about: await api.about() };
  } catch {
    return null;
  }
}
