/** Bundles all tests of the page and runs them with the test runner of Node. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { terms } from "../terms.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const testsIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => /\.test\.(ts|mjs)$/.test(name))
    .map((name) => join(folder, name));
const out = mkdtempSync(join(tmpdir(), "workbench-tests-"));
try {
  await build({
    configFile: false,
    plugins: [terms()],
    logLevel: "warn",
    root: here,
    build: {
      ssr: true,
      outDir: out,
      emptyOutDir: true,
      rolldownOptions: {
        input: [here, join(here, "../src")].flatMap(testsIn),
        output: { entryFileNames: "[name].mjs" },
      },
    },
    ssr: { noExternal: true },
  });
  const bundles = readdirSync(out).filter((name) => name.endsWith(".test.mjs"));
  const files = bundles.map((name) => join(out, name));
  const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
