/** The address of the page, which follows the state of the workbench. */

import { fromFragment, type Linked, LinkError, toFragment } from "./link";

/** Time after an edit before the address is changed, because browsers limit the number of changes. [ms] */
const WRITE_MS = 600;

/**
 * Reads the content of the address immediately, and again after each change of the address. Calls `take` with the
 * content, or with null if the address has no content.
 */
export function followAddress(
  take: (linked: Linked | null) => void | Promise<void>,
  fail: (message: string) => void,
): { write(linked: Linked | null): void; push(linked: Linked): Promise<void>; close(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Content of the address that was last written or read. It is not read again. */
  let own = "";

  const read = async () => {
    if (location.hash === own && own !== "") return;
    clearTimeout(timer);
    own = location.hash;
    try {
      await take(await fromFragment(location.hash));
    } catch (error) {
      fail(error instanceof LinkError ? error.message : "The link cannot be read.");
      await take(null);
    }
  };
  const write = async (linked: Linked | null, how: "replaceState" | "pushState") => {
    clearTimeout(timer);
    try {
      own = linked ? await toFragment(linked) : "";
    } catch {
      // The address stays empty if the text is too long for a link.
      own = "";
    }
    history[how](null, "", own || location.pathname + location.search);
  };
  const listen = () => void read();
  addEventListener("hashchange", listen);
  addEventListener("popstate", listen);
  void read();
  return {
    write(linked) {
      clearTimeout(timer);
      timer = setTimeout(() => void write(linked, "replaceState"), WRITE_MS);
    },
    push: (linked) => write(linked, "pushState"),
    close() {
      clearTimeout(timer);
      removeEventListener("hashchange", listen);
      removeEventListener("popstate", listen);
    },
  };
}
