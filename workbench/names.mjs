// Lists the names that TypeScript and Svelte files define: `FILE:LINE NAME`, one per line.
// Names are those of functions, classes, types, members, parameters and variables.

import { readFileSync } from "node:fs";
import ts from "typescript";

/** Returns the TypeScript code of a file. Lines of Svelte markup are empty. */
function source(path) {
  const text = readFileSync(path, "utf8");
  if (!path.endsWith(".svelte")) return text;
  let code = "";
  let end = 0;
  for (const script of text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)) {
    const start = script.index + script[0].indexOf(">") + 1;
    code += text.slice(end, start).replace(/[^\n]/g, "") + script[1];
    end = start + script[1].length;
  }
  return code;
}

for (const path of process.argv.slice(2)) {
  const file = ts.createSourceFile(path, source(path), ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    const isUse = ts.isPropertyAccessExpression(node) || ts.isImportClause(node);
    const isImported = ts.isImportSpecifier(node) && !node.propertyName;
    if (node.name && ts.isIdentifier(node.name) && !isUse && !isImported) {
      const { line } = file.getLineAndCharacterOfPosition(node.name.getStart(file));
      console.log(`${path}:${line + 1} ${node.name.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}
