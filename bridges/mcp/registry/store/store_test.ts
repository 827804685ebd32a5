import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../../contracts/base/mod.ts";
import { needs } from "../../../../tests/needs.ts";
import { freshCommand } from "../../../../cli/_fixture/mcp_command.ts";

const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  return error.code === code;
};

Deno.test("a step sees no home, no environment, and writes its own folder only", async () => {
  if (!needs("bwrap")) return;
  const { powers, places } = freshCommand({ env: {} });
  const draft = powers.mcpStore.draft(places.mcpTrees);
  const end = await powers.mcpStore.step({
    program: "/deno",
    args: [
      "eval",
      `const can = (f) => { try { f(); return true; } catch { return false; } };
       console.log(JSON.stringify([
         can(() => Deno.statSync(${
        JSON.stringify(powers.root)
      })), can(() => Deno.readDirSync("/root")),
         can(() => Deno.writeTextFileSync("/etc/x", "")), can(() => Deno.writeTextFileSync("/dd/x", "")),
         Object.keys(Deno.env.toObject()).filter((name) => !["PATH", "DENO_NODE_SHIM_ACTIVE"].includes(name)).sort(), can(() => Deno.statSync("/proc/" + ${Deno.pid})) ]));`,
    ],
    env: { DENO_DIR: "/tmp/dd", NO_COLOR: "1" },
    reads: [{ from: powers.mcpStore.deno, at: "/deno" }],
    writes: { from: draft, at: "/dd" },
    net: false,
    deadlineMs: 600_000,
  });
  assert.equal(end.out, '[false,false,false,true,["DENO_DIR","NO_COLOR","PWD"],false]\n', end.said);
  powers.mcpStore.drop(draft);
});

Deno.test("a step that fetches trusts the certificate of its caller's own network, and one that does not sees none", async () => {
  if (!needs("bwrap")) return;
  const { powers } = freshCommand({ env: {} });
  const file = join(powers.root, "own.pem");
  Deno.writeTextFileSync(file, "of alice's network");
  const before = Deno.env.get("DENO_CERT");
  Deno.env.set("DENO_CERT", file);
  try {
    for (const net of [true, false]) {
      const end = await powers.mcpStore.step({
        program: "/deno",
        args: [
          "eval",
          `const name = Deno.env.get("DENO_CERT");
           console.log(name === undefined ? "none" : Deno.readTextFileSync(name));`,
        ],
        env: { DENO_DIR: "/tmp/dd", NO_COLOR: "1" },
        reads: [{ from: powers.mcpStore.deno, at: "/deno" }],
        net,
        deadlineMs: 600_000,
      });
      assert.equal(end.out, net ? "of alice's network\n" : "none\n", end.said);
    }
  } finally {
    if (before === undefined) Deno.env.delete("DENO_CERT");
    else Deno.env.set("DENO_CERT", before);
  }
});

Deno.test("a step that writes without end, or never ends, is ended", async () => {
  if (!needs("bwrap")) return;
  const { powers, places } = freshCommand();
  const draft = powers.mcpStore.draft(places.mcpTrees);
  const spin = (source: string, deadlineMs: number): Promise<unknown> =>
    powers.mcpStore.step({
      ...{
        program: "/deno",
        args: ["eval", source],
        env: { DENO_DIR: "/tmp/dd" },
        net: false,
        deadlineMs,
      },
      reads: [{ from: powers.mcpStore.deno, at: "/deno" }],
      writes: { from: draft, at: "/dd" },
    });
  await assert.rejects(spin("for (;;);", 1_500), fault("timedOut", /1500 ms/));
  // Holes: as long as they say, and nothing on the disk.
  const many =
    `for (let n = 0;; n++) { const f = Deno.openSync("/dd/" + n, { write: true, create: true }); f.truncateSync(200e6); f.close(); }`;
  await assert.rejects(spin(many, 600_000), fault("tooLarge", /500 MB/));
  powers.mcpStore.drop(draft);
  assert.deepEqual(powers.disk.list(places.mcpTrees), []);
});

Deno.test("a tree is kept read-only under its hash; the same one again changes nothing", () => {
  const { powers: { mcpStore, disk }, places } = freshCommand();
  const make = (text: string): string => {
    const draft = mcpStore.draft(places.mcpTrees);
    disk.makeFolder(join(draft, "deep"), 0o755);
    Deno.writeTextFileSync(join(draft, "deep/a"), text, { mode: 0o666 });
    Deno.writeTextFileSync(join(draft, "run"), "x", { mode: 0o777 });
    return draft;
  };
  const to = { trees: places.mcpTrees, prefix: "npm" };
  const [one, same, other] = [make("a"), make("a"), make("b")].map((draft) =>
    mcpStore.keep(draft, to)
  );
  assert.deepEqual(one, same);
  assert.notEqual(one?.sha256, other?.sha256);
  assert.deepEqual(disk.list(places.mcpTrees), [one?.id, other?.id].sort());
  const tree = join(places.mcpTrees, one?.id ?? "");
  const mode = (path: string): number => (Deno.statSync(join(tree, path)).mode ?? 0) & 0o777;
  assert.deepEqual(["", "deep", "deep/a", "run"].map(mode), [0o555, 0o555, 0o444, 0o555]);
  for (const { id } of [one, other].filter((each) => each !== undefined)) {
    mcpStore.drop(join(places.mcpTrees, id));
  }
  assert.deepEqual(disk.list(places.mcpTrees), []);
});

Deno.test("a link in a tree that leads out of it is refused, and the tree is not kept", () => {
  const { powers: { mcpStore }, places } = freshCommand();
  const draft = mcpStore.draft(places.mcpTrees);
  Deno.symlinkSync("/etc/passwd", join(draft, "link"));
  assert.throws(
    () => mcpStore.keep(draft, { trees: places.mcpTrees, prefix: "npm" }),
    fault("refused", /leads out/),
  );
  mcpStore.drop(draft);
});

Deno.test("a program is found by its name or its path, real, with what it holds", () => {
  const { powers: { mcpStore, root } } = freshCommand();
  const found = mcpStore.find("true");
  assert.equal(found?.path, Deno.realPathSync(found?.path ?? ""));
  assert.equal(mcpStore.find("/bin/true")?.sha256, found?.sha256);
  const plain = join(root, "plain");
  Deno.writeTextFileSync(plain, "x", { mode: 0o644 });
  for (const none of ["no-such-program", plain, root, join(root, "gone"), ""]) {
    assert.equal(mcpStore.find(none), undefined, none);
  }
});
