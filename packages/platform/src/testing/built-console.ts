import { createHash } from "node:crypto";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export const INDEX = `<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><style nonce="__CSP_NONCE__">p{}</style>`;
export const SCRIPT = `export const answer = 42;\n${"// The console.\n".repeat(200)}`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;

/** A small console as its build writes it, in a folder of its own. */
export async function buildTestConsole(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "platform-console-"));
  const files = [
    await writeParts(directory, "assets/app-Ab_9-x.js", "text/javascript; charset=utf-8", SCRIPT),
    await writeParts(directory, "assets/app-1f.css", "text/css; charset=utf-8", "p { color: inherit }"),
    await writeParts(directory, "icon.svg", "image/svg+xml", SVG),
    // As a build would that lists all its files.
    await writeParts(directory, "index.html", "text/html; charset=utf-8", INDEX),
  ];
  await writeFile(join(directory, "not-listed.txt"), "a file that the build does not list");
  await writeFile(join(directory, "manifest.json"), JSON.stringify({ index: "index.html", files }));
  return directory;
}

async function writeParts(directory: string, file: string, type: string, text: string) {
  const bodies = {
    identity: Buffer.from(text),
    gzip: gzipSync(text),
    br: brotliCompressSync(text),
  };
  await mkdir(dirname(join(directory, file)), { recursive: true });
  await writeFile(join(directory, file), bodies.identity);
  await writeFile(join(directory, `${file}.gz`), bodies.gzip);
  await writeFile(join(directory, `${file}.br`), bodies.br);
  return {
    path: `/${file}`,
    file,
    type,
    etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
    immutable: file.startsWith("assets/"),
    lengths: {
      identity: bodies.identity.length,
      gzip: bodies.gzip.length,
      br: bodies.br.length,
    },
  };
}
