import type { OutputAsset, OutputChunk } from "rolldown";
import { defineConfig, type Plugin } from "vite";
import page from "./vite.config.ts";

/** Moves scripts and styles into the page, so that the template of reports is one file. */
function inOneFile(): Plugin {
  return {
    name: "in-one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const html = files.find((file): file is OutputAsset => file.fileName.endsWith(".html"));
      if (!html) throw new Error("the report has no page");
      let text = String(html.source);
      for (const file of files) {
        if (file.fileName.endsWith(".css")) {
          const style = `<style>${String((file as OutputAsset).source)}</style>`;
          text = text.replace(/<link rel="stylesheet"[^>]*>/, () => style);
        } else if (file.type === "chunk") {
          const code = (file as OutputChunk).code.replaceAll("</script", "<\\/script");
          text = text.replace(/<script type="module"[^>]*src=[^>]*><\/script>/, "");
          text = text.replace("</body>", () => `<script type="module">${code}</script>\n  </body>`);
        }
        delete bundle[file.fileName];
      }
      this.emitFile({ type: "asset", fileName: "report.template", source: text });
    },
  };
}

export default defineConfig({
  ...page,
  plugins: [...(page.plugins ?? []), inOneFile()],
  build: {
    ...page.build,
    emptyOutDir: false,
    license: false,
    cssCodeSplit: false,
    rolldownOptions: { ...page.build?.rolldownOptions, input: "report.html", output: { codeSplitting: false } },
  },
});
