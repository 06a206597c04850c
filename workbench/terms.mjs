/** Vite plugin that provides the terms of the project's glossary which the page explains. */

import { readFileSync } from "node:fs";
import { parse } from "smol-toml";

const NAME = "virtual:terms";
const GLOSSARY = new URL("../python/lasthop/explanation/terms.toml", import.meta.url);
const USED = new URL("src/terms/used.json", import.meta.url);

/** Provides the module `virtual:terms`: name, spellings and meaning of each term. */
export function terms() {
  return {
    name: "lasthop-terms",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load(id) {
      if (id !== `\0${NAME}`) return null;
      const glossary = parse(readFileSync(GLOSSARY, "utf8")).term;
      const used = Object.entries(JSON.parse(readFileSync(USED, "utf8"))).map(([name, forms]) => {
        const term = glossary.find((each) => each.name === name);
        if (!term) throw new Error(`src/terms/used.json: ${name}: the glossary has no such term`);
        return { name, forms: [name.replace(/ \(.*\)$/, ""), ...forms], means: term.means };
      });
      return `export default ${JSON.stringify(used)};`;
    },
  };
}
