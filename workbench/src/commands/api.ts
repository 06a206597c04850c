/** HTTP interface of `lasthop workbench`, which is used only if the page's server provides it. */

import type { Source } from "../engine/engine";

/** Description of a server. */
export interface About {
  version: string;
  /** Names of the commands that the server supports. */
  commands: readonly string[];
  /** Scenario file given on the server's command line, or null. */
  scenario: { name: string; text: string } | null;
  /** Problems of the scenario file given on the server's command line. */
  notes: readonly string[];
}

/** Result of a command: its output with `--json`, and its warnings. */
export interface Told {
  answer: unknown;
  notes: readonly string[];
}

/** Options of a command, by name. */
export type Options = Record<string, string | number | readonly string[]>;

/** Error of a request that the server refused. Its message is shown to users. */
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
    return (await this.#ask("about")) as About;
  }

  /** Runs a command on a scenario text. The signal ends the process of the command. */
  async ask(command: string, source: Source, options: Options, signal: AbortSignal): Promise<Told> {
    const { text, settings } = source;
    return (await this.#ask(command, { text, settings, options }, signal)) as Told;
  }

  async #ask(what: string, body?: object, signal: AbortSignal | null = null): Promise<unknown> {
    const posted = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const address = new URL(what, this.#base);
    const response = await fetch(address, { signal, ...(body ? posted : {}) }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new Refused("lasthop workbench does not answer", "start it again and reload this page");
    });
    const reply: unknown = await response.json().catch(() => null);
    if (response.ok && reply && !(reply as { error?: string }).error) return reply;
    throw refusalFrom(reply, response.status);
  }
}

/** Returns the error for a reply of the server. The name of the server's temporary file is left out of the message. */
export function refusalFrom(body: unknown, status: number): Refused {
  const { error, hint } = (body ?? {}) as Record<string, unknown>;
  const message = typeof error === "string" ? error : `the server sent no answer (HTTP status ${status})`;
  const plain = message.replace(/^scenario\.(?:toml|json):(\d+:)? ?/gm, (_, line?: string) => (line ? `line ${line} ` : ""));
  return new Refused(plain, typeof hint === "string" ? hint : null);
}

/** Returns the interface of the page's server, or null on a static page. */
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
