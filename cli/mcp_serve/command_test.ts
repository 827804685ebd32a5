import assert from "node:assert/strict";
import { dirname } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { readListen } from "./command.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";

Deno.test("an address is a host with a port, a port, or the usual one", () => {
  assert.deepEqual(readListen(undefined), { hostname: "127.0.0.1", port: 7_431 });
  assert.deepEqual(readListen("0"), { hostname: "127.0.0.1", port: 0 });
  assert.deepEqual(readListen("0.0.0.0:80"), { hostname: "0.0.0.0", port: 80 });
  assert.deepEqual(readListen("[::1]:1"), { hostname: "::1", port: 1 });
  assert.deepEqual(readListen("LocalHost:7"), { hostname: "127.0.0.1", port: 7 });
  for (
    const text of [
      "",
      "localhost",
      "a:70000",
      "a b:1",
      "http://a:1",
      ":1",
      "1.2.3.4:-1",
      "a:1,b:2",
      "box.lan:80",
    ]
  ) {
    assert.throws(
      () => readListen(text),
      (error: unknown) => error instanceof Fault && error.code === "invalidInput",
      text,
    );
  }
});

Deno.test("the block to paste names this installation's own program, and the flags that were given", async () => {
  for (
    const [host, key] of [["claude", "mcpServers"], ["cursor", "mcpServers"], [
      "vscode",
      "servers",
    ]] as const
  ) {
    const powers = await fakePowers();
    const code = await runCommandLine(
      [
        "mcp",
        "serve",
        "--print",
        host,
        "--mount",
        "notes=/home/bob/notes:ro",
        "--profile",
        "anonymous",
      ],
      powers,
    );
    assert.equal(code, 0);
    const { remit } = JSON.parse(powers.screen.outs.join(""))[key];
    assert.equal(remit.command, `${powers.environment.home}/bin/remit`);
    assert.deepEqual(remit.args, [
      ...["mcp", "serve", "--profile", "anonymous", "--mount", "notes=/home/bob/notes:ro"],
    ]);
  }
  const powers = await fakePowers();
  // A host starts it in a folder of its own: a relative path would be another one there, and "~" none.
  const { cwd } = powers.environment;
  const relative = ["a=docs:ro", "b=../b", "c=~/c:stage", "d=.", "e=x:y:ro"];
  const print = ["mcp", "serve", "--print", "claude"];
  assert.equal(
    await runCommandLine([...print, ...relative.flatMap((each) => ["--mount", each])], powers),
    0,
  );
  const { remit } = JSON.parse(powers.screen.outs.join("")).mcpServers;
  assert.deepEqual(remit.args.filter((each: string) => each.includes("=")), [
    ...[
      `a=${cwd}/docs:ro`,
      `b=${dirname(cwd)}/b`,
      `c=${powers.root}/c:stage`,
      `d=${cwd}`,
      `e=${cwd}/x:y:ro`,
    ],
  ]);
  assert.notEqual(await runCommandLine([...print, "--mount", "a=docs:wr"], powers), 0);
  assert.equal(await runCommandLine(["mcp", "serve", "--print", "emacs"], powers), 2);
  powers.screen.outs.length = 0;
  Deno.mkdirSync(`${powers.environment.cwd}/plain`);
  for (const folder of ["plain", "not-there"]) {
    const words = ["mcp", "serve", "--print", "claude", "--wiki", folder];
    assert.notEqual(await runCommandLine(words, powers), 0, folder);
    assert.equal(powers.screen.outs.join(""), "", "no block for a folder that is no wiki");
  }
  assert.match(powers.screen.lines.join("\n"), /Cannot use "plain": it is no wiki/);
});

Deno.test("nothing is served at an address that no host could show a token for", async () => {
  const powers = await fakePowers();
  assert.equal(await runCommandLine(["mcp", "serve", "--http"], powers), 2);
  assert.match(powers.screen.lines.join("\n"), /there is no token.*mcp token create/);
});
