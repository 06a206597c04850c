/** Bundles the tests beside this file and runs them with Node's own runner. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

const here = import.meta.dirname;
const out = mkdtempSync(join(tmpdir(), "views-tests-"));
try {
  const input = readdirSync(here).filter((name) => name.endsWith(".test.mjs"));
  await build({
    configFile: false,
    logLevel: "warn",
    root: here,
    build: {
      ssr: true,
      outDir: out,
      emptyOutDir: true,
      rolldownOptions: {
        input: input.map((name) => join(here, name)),
        output: { entryFileNames: "[name].mjs" },
      },
    },
    ssr: { noExternal: true },
  });
  const files = readdirSync(out).filter((name) => name.endsWith(".test.mjs"));
  const run = spawnSync(process.execPath, ["--test", ...files.map((name) => join(out, name))], {
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
