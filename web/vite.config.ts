import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Libraries that get a file of their own: loaded late, cached apart from our code. */
const CHUNKS: Record<string, RegExp> = {
  editor: /node_modules[\\/](@codemirror[\\/](?!merge)|@lezer|@marijn|style-mod|w3c-keyname|crelt)/,
  diff: /node_modules[\\/]@codemirror[\\/]merge[\\/]/,
  markdown:
    /node_modules[\\/](react-markdown|remark|rehype|micromark|mdast|hast|unist|unified|vfile|property-information|html-url-attributes|character-entities|decode-named|devlop|trough|bail|ccount|longest-streak|markdown-table|style-to|inline-style|estree-util|space-separated|comma-separated|zwitch|trim-lines|is-plain-obj|extend)/,
};

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": at("./src") } },
  build: {
    outDir: "../src/wenfang/web/static",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2022",
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: Object.entries(CHUNKS).map(([name, test]) => ({ name, test })),
        },
      },
    },
  },
  server: { proxy: { "/api": process.env.WENFANG_URL ?? "http://127.0.0.1:8000" } },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
