/**
 * Prints the documents that the question set is about as JSON, `[name, text][]`. Run in a process of its own, with an import map of its own
 * (bench/_data/wiki_questions_package.json), so that nobody else downloads the package.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Parts that other documents include: they would be there twice. */
const LEFT_OUT = new Set(["snippets"]);

const folder = join(dirname(fileURLToPath(import.meta.resolve("bun-types/package.json"))), "docs");
const documents: [string, string][] = [];
const walk = (path: string): void => {
  const entries = readdirSync(join(folder, path), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    const name = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!LEFT_OUT.has(name)) walk(name);
    } else if (/\.mdx?$/.test(name)) {
      documents.push([name, readFileSync(join(folder, name), "utf8")]);
    }
  }
};
walk("");
const bytes = new TextEncoder().encode(JSON.stringify(documents));
for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
