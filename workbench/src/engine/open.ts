/** Loading of the engine, which is compiled once for all workers. */

import { Pool } from "./pool";

/** Returns a pool of workers. Throws if the engine is missing or cannot be compiled. */
export async function openPool(): Promise<Pool> {
  const response = await fetch(new URL("engine.wasm", document.baseURI));
  if (!response.ok) throw new Error(`The engine could not be loaded: engine.wasm, HTTP status ${response.status}.`);
  const isTyped = response.headers.get("content-type")?.startsWith("application/wasm");
  const module = isTyped
    ? await WebAssembly.compileStreaming(response)
    : await WebAssembly.compile(await response.arrayBuffer());
  return new Pool(module);
}
