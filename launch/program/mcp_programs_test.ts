import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { mcpPrograms, provideMcpPrograms } from "./mcp_programs_powers.ts";

Deno.test("the bridge's programs are built once, and anew when their own sources change", async () => {
  const home = await Deno.makeTempDir({ prefix: "remit-home-" });
  try {
    for (const which of ["mcp/client", "mcp/tree", "mcp/relay", "a2a/client"]) {
      const file = join(home, "bridges", which, "main.ts");
      await Deno.mkdir(dirname(file), { recursive: true });
      await Deno.writeTextFile(file, "const n: number = 1;\nvoid n;\n");
    }
    await Deno.writeTextFile(join(home, "deno.json"), '{"nodeModulesDir":"none"}');
    let built = 0;
    const parts = { home, cache: join(home, "cache"), onBuild: () => void (built += 1) };
    await Promise.all([provideMcpPrograms(parts), provideMcpPrograms(parts)]);
    const files = mcpPrograms(parts);
    for (const file of Object.values(files)) assert.ok((await Deno.stat(file)).isFile);
    const before = built;
    await provideMcpPrograms(parts);
    assert.equal(built, before);
    await Deno.writeTextFile(join(home, "bridges/mcp/tree/main.ts"), "void 2;\n");
    const after = mcpPrograms(parts);
    assert.deepEqual([after.mcp, after.mcpRelay], [files.mcp, files.mcpRelay]);
    assert.notEqual(after.mcpTree, files.mcpTree);
    // It is said once for all of them.
    await provideMcpPrograms(parts);
    assert.equal(built, before + 1);
    assert.deepEqual(
      [...Deno.readDirSync(parts.cache)].filter(({ name }) => name.startsWith(".")),
      [],
    );
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
