import { relative } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import type { BuildEnvironmentOptions, Plugin, Rolldown, UserConfig } from "vite";
import { TRY_PATH } from "@platform/contract/local-try";

/** Where `npm start` serves the platform API; `npm run dev` passes its calls on. */
const API = "http://127.0.0.1:8090";

/** Name of a file without its suffix; the names of what is shared list all that share it. */
function shorten(name: string): string {
  return name.startsWith("shared~") ? "shared" : name.replace(/\.\w+$/u, "");
}

/** What both builds have in common. */
const COMMON = {
  assetsDir: "assets",
  // tools/build-console.ts reads which file belongs to which module, and removes it.
  manifest: "modules.json",
  modulePreload: { polyfill: false },
  // A data: URL would be right, but each inlined file is compressed worse than on its own.
  assetsInlineLimit: 0,
  chunkSizeWarningLimit: 1_000,
  target: "es2022",
  // From these on browsers know `light-dark()`: for older ones it is rewritten, and no colour of ours would be set.
  cssTarget: ["chrome123", "edge123", "firefox120", "safari17.5"],
} satisfies BuildEnvironmentOptions;

const NAMES = {
  // Their own names list all that share them.
  chunkFileNames: ({ name }) => `assets/${shorten(name)}-[hash].js`,
  assetFileNames: ({ names: [name = "asset"] }) => `assets/${shorten(name)}-[hash][extname]`,
} satisfies Rolldown.OutputOptions;

const CONSOLE: UserConfig = {
  plugins: [react()],
  build: {
    ...COMMON,
    outDir: "dist",
    rolldownOptions: {
      output: {
        ...NAMES,
        // The entry must stay free of these: the first is loaded with the first form.
        codeSplitting: {
          groups: [
            { name: "schema-check", test: /node_modules\/typebox\// },
            // Loaded with the first text that is shown in an editor.
            {
              name: "code-editor",
              test: /node_modules\/(?:@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)\//,
            },
            // What the entry is made of stays together, so that nothing else comes with it.
            { name: "first", tags: ["$initial"], priority: 1 },
            // What several pages share, in few files: each is a request, and a slow line has few at one time.
            { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 32_000 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": API, "/quantum": API } },
  preview: { proxy: { "/api": API, "/quantum": API } },
};

/** The page of `platform serve`, which the command line tool has with it. */
const TRY: UserConfig = {
  plugins: [react(), listLibraries()],
  base: `${TRY_PATH}/`,
  build: { ...COMMON, outDir: "dist-try", rolldownOptions: { input: "try.html", output: NAMES } },
};

/** Writes the libraries' files that the page is made of: whoever ships it ships their licences. */
function listLibraries(): Plugin {
  return {
    name: "list-libraries",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const found = modules
        .map((id) => relative(import.meta.dirname, id.replace(/^\0/u, "").split("?", 1)[0] ?? ""))
        .filter((path) => path.includes("node_modules/"));
      this.emitFile({ type: "asset", fileName: "libraries.json", source: JSON.stringify(found.toSorted()) });
    },
  };
}

export default defineConfig(({ mode }) => (mode === "try" ? TRY : CONSOLE));
