import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { terms } from "./terms.mjs";

// Relative addresses: the same files lie at the root of a server and in a folder of the documentation.
export default defineConfig({
  base: "./",
  plugins: [
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
    // Browsers that lack `light-dark()` get styles without it.
    cssTarget: ["chrome111", "firefox114", "safari16.4"],
    assetsInlineLimit: 0,
    rolldownOptions: { checks: { pluginTimings: false } },
    modulePreload: { polyfill: false },
    // Whoever hands the page on hands on the licences of what is in it.
    license: { fileName: "licences.md" },
  },
  worker: { format: "es" },
});
