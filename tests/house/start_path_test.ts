/** What is loaded before a command's own module stays small: each command pays for it. */
import assert from "node:assert/strict";
import { ROOT } from "../../scripts/process.ts";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** Files of ours that an entry loads by static imports of values. */
async function loadedBy(entry: string): Promise<readonly string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `${ROOT}/${entry}`],
    stderr: "inherit",
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as {
    readonly modules: readonly Module[];
  };
  const byName = new Map(modules.map((each) => [each.specifier, each]));
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name) || !byName.has(name)) return;
    seen.add(name);
    for (const { isDynamic, code } of byName.get(name)?.dependencies ?? []) {
      if (isDynamic !== true && code?.specifier !== undefined) visit(code.specifier);
    }
  };
  visit(`file://${ROOT}/${entry}`);
  return [...seen].filter((name) => name.startsWith("file:")).map((name) => name.slice(7));
}

Deno.test("before a command's own module at most 60 files and 6,000 lines are loaded, and no schema library", async () => {
  const files = await loadedBy("cli/main.ts");
  assert.ok(files.length > 30 && files.length <= 60, `${files.length} files`);
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(file)));
  const lines = texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
  assert.ok(lines <= 6_000, `${lines} lines`);
  assert.deepEqual(texts.filter((text) => /^import [^;]* from "zod"/m.test(text)), []);
});
