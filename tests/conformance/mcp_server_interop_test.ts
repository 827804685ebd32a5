/** Clients that others wrote, against `remit mcp serve`: over a pipe and at an address. */
import assert from "node:assert/strict";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldPipe } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Machine, onMachine } from "../fake/remit.ts";
import { atAddress, connect, overPipe, textOf, tokenOf } from "./_served.ts";

const INSPECTOR = "npm:@modelcontextprotocol/inspector@2.12.0";
const PLAN = "call the supplier\n";
const READ = { name: "file_read", arguments: { path: "notes/plan.md" } };

interface Listed {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

async function withNotes(f: (machine: Machine, mount: string) => Promise<void>): Promise<void> {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", PLAN);
    await f(machine, `notes=${machine.dir}/notes`);
  });
}

Deno.test("SDK 1.32's client lists and calls gated tools over a pipe (long)", async () => {
  await withNotes(async (machine, mount) => {
    const [command = "", ...args] = machine.command(["mcp", "serve", "--mount", mount]);
    const client = new OldClient({ name: "old", version: "1" });
    const env = { ...machine.env };
    await client.connect(new OldPipe({ command, args, env, cwd: machine.dir, stderr: "ignore" }));
    try {
      const listed = await client.listTools();
      const tools: readonly Listed[] = listed.tools;
      const read = tools.find(({ name }) => name === "file_read");
      assert.deepEqual(read?.annotations, {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      assert.equal(
        tools.find(({ name }) => name === "file_write")?.annotations?.["readOnlyHint"],
        false,
      );
      assert.equal(textOf(await client.callTool(READ)), PLAN);
      const refused = await client.callTool({ name: "file_read", arguments: { path: "home/x" } });
      assert.equal(refused.isError, true);
      assert.match(textOf(refused), /^\w+: Cannot /);
    } finally {
      await client.close();
    }
  });
});

Deno.test("SDK 1.32's client lists and calls at an address", async () => {
  await withNotes(async (machine, mount) => {
    const token = await tokenOf(machine);
    const served = await atAddress(machine, ["--mount", mount]);
    const client = new OldClient({ name: "old", version: "1" });
    const transport = new OldHttp(new URL(served.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    try {
      // Its types are older than exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      assert.ok((await client.listTools()).tools.length > 10);
      assert.equal(textOf(await client.callTool(READ)), PLAN);
      await transport.terminateSession();
    } finally {
      await client.close();
      served.kill("SIGTERM");
      assert.equal(await served.ended, 0);
    }
  });
});

Deno.test("SDK 2.4's client speaks 2026-07-28 and 2025-11-25 to both (long)", async () => {
  await withNotes(async (machine, mount) => {
    const token = await tokenOf(machine);
    const served = await atAddress(machine, ["--mount", mount]);
    for (const [mode, revision] of [["auto", "2026-07-28"], ["legacy", "2025-11-25"]] as const) {
      const { client: far } = await connect(served, token, { mode });
      const near = await overPipe(machine, ["--mount", mount], { mode });
      for (const client of [far, near]) {
        assert.equal(client.getNegotiatedProtocolVersion(), revision);
        assert.equal(textOf(await client.callTool(READ)), PLAN);
        const all = await Promise.all(Array.from({ length: 12 }, () => client.callTool(READ)));
        assert.deepEqual(all.map(textOf), Array.from({ length: 12 }, () => PLAN));
        await client.close();
      }
    }
    served.kill("SIGTERM");
    await served.ended;
  });
});

/** Its packages are those of this day: a later one of them may name what Deno cannot find. */
const AS_OF = "2026-11-20";

async function inspect(
  machine: Machine,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  // Its packages are found where tests have theirs.
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "--no-lock", "--no-config", `--minimum-dependency-age=${AS_OF}`],
      ...[INSPECTOR, "--cli", ...words],
    ],
    cwd: machine.dir,
    env: { ...machine.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.ok(
    success,
    `The MCP Inspector (${INSPECTOR}) does not run or does not get its answer:\n${said}\n` +
      new TextDecoder().decode(stderr).slice(-2_000),
  );
  return JSON.parse(said);
}

const INSPECT = [
  "--method",
  "tools/call",
  "--tool-name",
  "file_read",
  "--tool-arg",
  "path=notes/plan.md",
];

Deno.test("the Inspector's command line calls a tool over a pipe and at an address (long)", async () => {
  await withNotes(async (machine, mount) => {
    // It hands a server nothing of its own environment.
    const kept = [
      "REMIT_IDLE_SECONDS",
      "XDG_CACHE_HOME",
      "XDG_CONFIG_HOME",
      "XDG_RUNTIME_DIR",
      "DENO_DIR",
    ].flatMap((
      name,
    ) => [
      ...["-e", `${name}=${machine.env[name]}`],
    ]);
    const remit = new URL("../../bin/remit", import.meta.url).pathname;
    // What the first command builds takes longer than it waits.
    await machine.remit(["ps"]);
    const near = await inspect(machine, [
      ...[...kept, "--connect-timeout", "60000", remit, "mcp", "serve"],
      ...[`--mount=${mount}`, `--state=${machine.state}`, ...INSPECT],
    ]);
    assert.equal(textOf(near), PLAN);
    const token = await tokenOf(machine);
    const served = await atAddress(machine, ["--mount", mount]);
    const far = await inspect(machine, [
      ...[
        served.url,
        "--transport",
        "http",
        "--header",
        `Authorization: Bearer ${token}`,
        ...INSPECT,
      ],
    ]);
    assert.equal(textOf(far), PLAN);
    served.kill("SIGTERM");
    await served.ended;
  });
});
