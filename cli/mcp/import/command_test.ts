import assert from "node:assert/strict";
import { join } from "node:path";
import type { Json } from "../../../contracts/base/mod.ts";
import { PLAIN, rig, SLY, URL_ } from "../../_fixture/mcp_rig.ts";

const CONFIG = {
  mcpServers: {
    "my notes": {
      command: "/bin/cat",
      args: ["NOTES"],
      env: { NOTES_API_KEY: `sk-${"a".repeat(24)}` },
    },
    boxed: { command: "docker", args: ["run", "x"] },
    gone: { command: "/no/such/program" },
    tickets: { url: URL_, headers: { Authorization: "Bearer t0ken" } },
  },
};

Deno.test("import --yes starts a server that needs its folder with the folder that its configuration names", async () => {
  const needs = (granted: readonly string[]): boolean => granted.length === 0;
  for (const yes of [true, false]) {
    const at = rig({ dead: needs });
    const file = join(at.notes, "..", "servers.json");
    const notes = { command: "/bin/cat", args: [at.notes] };
    Deno.writeTextFileSync(file, JSON.stringify({ mcpServers: { notes } }));
    assert.equal(await at.run("import", file, ...(yes ? ["--yes"] : [])), yes ? 0 : 67);
    assert.deepEqual(at.looks.map(({ observe }) => observe), yes ? [true, false] : [true]);
    assert.equal(at.locked()[0].state, yes ? "approved" : "added");
    // What was granted and not looked at yet is seen at a review, and can be approved then.
    if (!yes) assert.equal(await at.run("approve", "notes"), 0);
  }
});

Deno.test("import takes what can be contained, says why the rest cannot, moves keys, and approves nothing", async () => {
  const at = rig();
  const file = join(at.powers.root, "hosts.json");
  const write = (config: object): void =>
    Deno.writeTextFileSync(file, JSON.stringify(config).replaceAll('NOTES"]', `${at.notes}"]`));
  write(CONFIG);
  const { exit, value } = await at.json("import", file);
  assert.equal(exit, 75);
  const taken = value.servers.filter((each: { taken: boolean }) => each.taken);
  const names = taken.map((each: { name: string }) => each.name).sort();
  assert.deepEqual(names, ["mynotes", "tickets"]);
  assert.deepEqual(value.approved, []);
  assert.match(JSON.stringify(value.servers), /a container is started by a service of the machine/);
  assert.match(JSON.stringify(value.servers), /it is not in PATH/);
  assert.ok(!at.lockText().includes("sk-aaaa") && !at.lockText().includes("t0ken"));
  const notes = at.locked().find((each: { name: string }) => each.name === "mynotes");
  assert.deepEqual(notes.grants, { read: [at.notes], write: [], net: [] });
  assert.deepEqual(notes.secretEnv, ["NOTES_API_KEY"]);
  assert.equal(notes.state, "added");
  // Before anybody agreed to something no server is started with more than nothing.
  assert.deepEqual(
    at.looks.map(({ observe, server }) => [observe, (server as { grants: Json }).grants]),
    [
      [true, { read: [], write: [], net: [] }],
      [false, { read: [], write: [], net: [] }],
    ],
  );
  // A second import of the same changes nothing, and starts nothing.
  const before = at.lockText();
  const again = await at.json("import", file);
  assert.equal(again.value.servers.filter((each: { same?: boolean }) => each.same).length, 2);
  assert.equal(at.lockText(), before);
  assert.equal(at.looks.length, 2);
  assert.equal(await at.run("approve", "--all"), 0);
  assert.deepEqual(at.locked().map((each: { state: string }) => each.state), [
    "approved",
    "approved",
  ]);
  assert.equal(at.looks.length, 2);
  // One that is another by now does not replace what was approved.
  write({ mcpServers: { "my notes": { command: "/bin/echo" } } });
  assert.equal(await at.run("import", file), 1);
  assert.match(at.out(), /there is another "mynotes"/);
});

Deno.test("the table of an import fits in 80 columns and names flags, folders, effects, keys", async () => {
  const at = rig({ tools: [...PLAIN, SLY] });
  Object.assign(at.powers.screen, { outWidth: 80 });
  const file = join(at.powers.root, "hosts.json");
  Deno.writeTextFileSync(file, JSON.stringify(CONFIG));
  assert.equal(await at.run("import", file), 75);
  const lines = at.out().split("\n");
  const table = lines.slice(0, lines.indexOf(""));
  assert.ok(table.every((line) => line.length <= 80), at.out());
  assert.match(table[0] ?? "", /^NAME +RUNS AS +ASKED FOR +TOOLS +FLAGS$/);
  assert.match(at.out(), /hidden/);
  assert.match(at.out(), /mynotes: NOTES_API_KEY/);
  assert.match(at.out(), /remit mcp approve --all/);
  assert.equal(await at.run("import", join(at.powers.root, "nothing.json")), 2);
  assert.equal(await at.run("import"), 2);
});

Deno.test("import --yes approves what is not flagged; what a host asks its user for is asked for here", async () => {
  const at = rig({ types: ["k3y"] });
  const file = join(at.powers.root, "mcp.json");
  Deno.writeTextFileSync(
    file,
    JSON.stringify({
      inputs: [{ id: "key", type: "promptString", description: "Your key\x1b[2J", password: true }],
      servers: { notes: { command: "/bin/cat", env: { NOTES_KEY: "${input:key}" } } },
    }),
  );
  assert.equal(await at.run("import", file, "--yes"), 0);
  assert.deepEqual(at.locked()[0].secretEnv, ["NOTES_KEY"]);
  assert.equal(at.locked()[0].state, "approved");
  assert.ok(!at.lockText().includes("k3y"));
  assert.ok(!at.said().includes("\x1b"));
});

Deno.test("import --clearance says once what all of them may be told, also those that can send it on", async () => {
  const at = rig();
  const file = join(at.powers.root, "hosts.json");
  const config = { mcpServers: { notes: { command: "/bin/cat" }, tickets: { url: URL_ } } };
  Deno.writeTextFileSync(file, JSON.stringify(config));
  assert.equal(await at.run("import", file, "--clearance", "everything"), 2);
  assert.equal(await at.run("import", file, "--clearance", "internal", "--yes"), 0);
  const chosen = at.locked().map((
    each: { name: string; clearance: string },
  ) => [each.name, each.clearance]);
  assert.deepEqual(chosen.sort(), [["notes", "internal"], ["tickets", "internal"]]);
  // Without the flag one that can send text on is told what is public.
  assert.equal(await at.run("remove", "tickets"), 0);
  assert.equal(await at.run("import", file, "--yes"), 0);
  const tickets = at.locked().find((each: { name: string }) => each.name === "tickets");
  assert.equal(tickets.clearance, "public");
});
