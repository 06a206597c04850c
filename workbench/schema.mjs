/** Vite plugin that provides the JSON schema of scenario files. */

import { readFileSync } from "node:fs";

const NAME = "virtual:schema";
/** Output of `lasthop schema`. A test of the engine compares the file with this output. */
const WITH_EXTENSIONS = new URL("../crates/engine/tests/frozen/schema.json", import.meta.url);
/** The key that every simulation has. A file may have a table of an extension, such as `gateway`, instead. */
const SIMULATION = "duration";

/** Returns the schema of simulations: `root` without the tables of extensions. */
export function simulations(root) {
  const needed = root.anyOf.flatMap(({ required }) => required);
  const properties = Object.entries(root.properties);
  const own = properties.filter(([key]) => key === SIMULATION || !needed.includes(key));
  const schema = { ...root, properties: Object.fromEntries(own), anyOf: [{ required: [SIMULATION] }], $defs: {} };
  const keep = (node) => {
    const name = node.$ref?.split("/").at(-1);
    if (name && !(name in schema.$defs)) keep((schema.$defs[name] = root.$defs[name]));
    for (const inner of Object.values(node)) if (typeof inner === "object" && inner) keep(inner);
  };
  keep(schema.properties);
  return schema;
}

/** Provides the module `virtual:schema`. */
export function schema() {
  return {
    name: "lasthop-schema",
    // without the usual "\0" before the name: some servers do not serve a file whose name begins with "_"
    resolveId: (id) => (id === NAME ? NAME : null),
    load(id) {
      if (id !== NAME) return null;
      const json = JSON.stringify(simulations(JSON.parse(readFileSync(WITH_EXTENSIONS, "utf8"))));
      return `export default JSON.parse(${JSON.stringify(json)});`;
    },
  };
}
