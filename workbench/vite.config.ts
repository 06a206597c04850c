import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { schema } from "./schema.mjs";
import { terms } from "./terms.mjs";

// Addresses are relative, because the files may be at the root of a server or in a folder of the documentation.
export default defineConfig({
  base: "./",
  plugins: [
    schema(),
    terms(),
    svelte({
      compilerOptions: {
        discloseVersion: false,
        cssHash: ({ hash, filename }) => `s${hash(filename ?? "").slice(0, 4)}`,
      },
    }),
  ],
  build: {
    outDir: "../python/lasthop/workbench/page",
    emptyOutDir: true,
    target: "es2023",
    // Browsers without `light-dark()` get styles that do not use it.
    cssTarget: ["chrome111", "firefox114", "safari16.4"],
    assetsInlineLimit: 0,
    rolldownOptions: { checks: { pluginTimings: false } },
    modulePreload: { polyfill: false },
    // The page contains the licences of the libraries in it.
    license: { fileName: "licences.md" },
  },
  worker: { format: "es" },
});
