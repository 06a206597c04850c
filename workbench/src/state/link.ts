/** Links to the workbench. Scenario text, overrides and view are encoded after `#s=`. */

/** The contents of a link. */
export interface Linked {
  text: string;
  /** Overrides of values in the text, each `key.path=value`. */
  settings: string[];
  /** Selected views and tabs, by name. */
  view: Record<string, string>;
}

/** Largest length of an encoded fragment. [characters] */
const MAX_CHARACTERS = 100_000;
/** Largest size of the decoded content, which limits the expansion of malicious fragments. [bytes] */
const MAX_BYTES = 1_000_000;
const PREFIX = "#s=";
const TOO_LONG = "The scenario is too long for a link. Save its text as a file.";

/** Error of a fragment that is invalid or too long. Its message is shown to users. */
export class LinkError extends Error {
  override name = "LinkError";
}

export async function toFragment(linked: Linked): Promise<string> {
  const body = new Blob([JSON.stringify(linked)]);
  if (body.size > MAX_BYTES) throw new LinkError(TOO_LONG);
  const packed = body.stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const fragment = PREFIX + toBase64Url(bytes);
  if (fragment.length > MAX_CHARACTERS) {
    throw new LinkError(TOO_LONG);
  }
  return fragment;
}

/** Decodes the fragment of an address (the part from # on). Returns null if the fragment is empty. */
export async function fromFragment(fragment: string): Promise<Linked | null> {
  if (fragment === "" || fragment === "#") return null;
  if (!fragment.startsWith(PREFIX)) throw new LinkError("The link contains no scenario: expected #s= and the scenario.");
  if (fragment.length > MAX_CHARACTERS) throw new LinkError("The link is too long: the part from # on must have at most 100,000 characters.");
  try {
    const bytes = fromBase64Url(fragment.slice(PREFIX.length));
    return linkedFrom(JSON.parse(await unpacked(bytes)));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("The link is damaged: its scenario cannot be read.");
  }
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > MAX_BYTES) {
      await reader.cancel();
      throw new LinkError("The link is too large: its content must have at most 1 MB.");
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Checks the content of a link, which may be malicious. */
function linkedFrom(value: unknown): Linked {
  if (typeof value !== "object" || value === null) throw new LinkError("The link contains no scenario.");
  const { text, settings = [], view = {} } = value as Record<string, unknown>;
  if (typeof text !== "string") throw new LinkError("The link contains no text of a scenario.");
  if (!Array.isArray(settings) || !settings.every(isSetting)) {
    throw new LinkError("The link contains an invalid setting: expected key.path=value.");
  }
  const looks = typeof view === "object" && view !== null ? Object.entries(view) : [];
  const known = looks.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  // if a key occurs twice, its last override applies
  const last = new Map(settings.map((setting) => [setting.slice(0, setting.indexOf("=")).trim(), setting]));
  return { text, settings: [...last.values()], view: Object.fromEntries(known.slice(0, 20)) };
}

/** Returns whether a value is an override: `key.path=value` on one line. */
export function isSetting(value: unknown): value is string {
  return typeof value === "string" && /^[^=\n\r]+=[^\n\r]*$/.test(value);
}

function toBase64Url(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(characters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
