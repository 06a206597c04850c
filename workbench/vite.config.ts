import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Relative addresses: the same files lie at the root of a server and in a folder of the documentation.
export default defineConfig({
  base: "./",
  plugins: [
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
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});
