/**
 * alice's agent works with servers that others wrote: server-everything, server-filesystem, server-memory from npm, and
 * server-everything at an address. A lease that she takes back bites in the middle of their work.
 */
import assert from "node:assert/strict";
import {
  type ImportedServer,
  type McpGrants,
  type McpLaunch,
  type McpLook,
  McpServerName,
} from "../../contracts/exchange/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { needs } from "../needs.ts";
import { type McpSiege, withMcp } from "../fake/mcp_siege.ts";
import { PACKAGES, trees } from "../fake/mcp_npm.ts";
import { descendants } from "../fake/processes.ts";
import { gone, type Seen, type Watched } from "../fake/siege.ts";
import { yesToAll } from "../fake/yes_to_all.ts";
import { waitUntil } from "../fake/wait_until.ts";

const story = (name: string, fn: () => Promise<void>): void =>
  Deno.test(name, async () => {
    if (needs("bwrap")) await fn();
  });

/** A folder of alice's that lies in none of Remit's, while a kernel runs over the fetched trees. */
async function atDesk(f: (siege: McpSiege, desk: string) => Promise<void>): Promise<void> {
  const { folder } = await trees();
  const desk = await Deno.realPath(await Deno.makeTempDir({ prefix: "mcp-real-" }));
  const rules = [{ destination: "mcp:*", mode: "auto" as const, at: "test" }];
  try {
    await withMcp((siege) => f(siege, desk), { mcpTrees: folder, policy: { ...NO_POLICY, rules } });
  } finally {
    await Deno.remove(desk, { recursive: true });
  }
}

/** A server whose words were looked at and approved as they are. */
async function reviewed(
  siege: McpSiege,
  name: string,
  { launch, grants = {}, env = {} }: {
    readonly launch: McpLaunch;
    readonly grants?: Partial<McpGrants>;
    readonly env?: ImportedServer["env"];
  },
): Promise<ImportedServer> {
  const draft = { launch, grants, env, name: McpServerName.parse(name) };
  const server = await siege.server("", { ...draft, words: [] });
  const look = await siege.ask("mcpLook", {
    server,
    observe: false,
    deadlineMs: 600_000,
  }) as McpLook;
  assert.ok(look.words !== undefined, JSON.stringify(look));
  return await siege.server("", { ...draft, words: look.words.tools });
}

async function filesystem(
  siege: McpSiege,
  desk: string,
  right: "read" | "write",
): Promise<ImportedServer> {
  const launch = (await trees()).launches.filesystem;
  assert.ok(launch.kind === "npm");
  const grants = { [right]: [desk] };
  return await reviewed(siege, "files", { launch: { ...launch, args: [desk] }, grants });
}

const outcomes = (task: Watched): readonly Seen[] =>
  task.events.filter(({ event }) => event === "outcome" || event === "refused");

function turn(tool: string, args: object): string {
  return `\n  - calls: [{ tool: mcp_${tool}, args: ${JSON.stringify(args)} }]`;
}

/** The process of a server that runs under `siege`: the one that reads and writes, not those around it. */
async function processOf(siege: McpSiege, name: string): Promise<number> {
  return await waitUntil(`a process of ${name}`, async () => {
    const found = (await descendants(siege.pid)).filter(({ command }) =>
      command.includes(`npm:@modelcontextprotocol/server-${name}`) && /^\S*deno /.test(command)
    );
    return found[0]?.pid;
  });
}

const runsStill = async (siege: McpSiege): Promise<boolean> =>
  (await descendants(siege.pid)).some(({ command, state }) =>
    state !== "Z" && command.includes("npm:@modelcontextprotocol/")
  );

async function revoke(siege: McpSiege, task: Watched, path: string): Promise<void> {
  const leases = await siege.ask("leases", { task: task.id }) as {
    id: string;
    scope: { path: string };
  }[];
  const lease = leases.find(({ scope }) => scope.path === path);
  assert.ok(lease !== undefined, JSON.stringify(leases));
  await siege.ask("revoke", { lease: lease.id });
}

story(
  "alice's agent writes, remembers, counts, draws: three servers of npm (long)",
  async () => {
    await atDesk(async (siege, desk) => {
      const { launches } = await trees();
      await Deno.mkdir(`${desk}/mind`);
      await Deno.writeTextFile(`${desk}/rota.md`, "Sunday: nobody\n");
      await Deno.symlink("/etc/passwd", `${desk}/users`);
      const mcp = [
        await filesystem(siege, desk, "write"),
        await reviewed(siege, "memory", {
          launch: launches.memory,
          grants: { write: [`${desk}/mind`] },
          env: { MEMORY_FILE_PATH: `${desk}/mind/memory.jsonl` },
        }),
        await reviewed(siege, "all", { launch: launches.everything }),
      ];
      const entity = { name: "Ines", entityType: "keeper", observations: ["opens on Sunday"] };
      const task = await siege.run({
        mcp,
        onQuestion: "ask",
        turns: [
          turn("files_read_text_file", { path: `${desk}/rota.md` }),
          turn("memory_create_entities", { entities: [entity] }),
          turn("files_write_file", { path: `${desk}/log.md`, content: "opened" }),
          turn("memory_search_nodes", { query: "Ines" }),
          turn("all_get_sum", { a: 19, b: 23 }),
          turn("all_get_tiny_image", {}),
          turn("files_read_text_file", { path: `${desk}/users` }),
          turn("files_read_text_file", { path: "/etc/passwd" }),
          "\n  - say: '{{ tool.mcp_memory_search_nodes }} {{ tool.mcp_all_get_sum }} {{ tool.mcp_files_read_text_file }}'",
        ].join(""),
      });
      // What servers changed is staged, and alice looks at it once.
      yesToAll(siege, task);
      assert.equal((await task.end).status, "done");
      assert.deepEqual(outcomes(task).map(({ body }) => [body["outcome"], body["colour"]]), [
        ...Array.from({ length: 6 }, () => ["ok", "RED"]),
        ...Array.from({ length: 2 }, () => ["executionError", "RED"]),
        // The review.
        ["ok", "RED"],
      ], JSON.stringify(outcomes(task)));
      const answer = String((await task.task())["answer"]);
      assert.match(answer, /opens on Sunday/);
      assert.match(answer, /42/);
      assert.doesNotMatch(answer, /root:/);
      assert.equal(await Deno.readTextFile(`${desk}/log.md`), "opened");
      assert.match(await Deno.readTextFile(`${desk}/mind/memory.jsonl`), /Ines/);
      const pictures = await siege.ask("outbox", { task: task.id }) as { name: string }[];
      assert.deepEqual(pictures.map(({ name }) => name), ["mcp_all_get_tiny_image-1.png"]);
      await waitUntil("the end of all servers", async () => !await runsStill(siege) || undefined);
    });
  },
);

story("alice's agent uses a server at an address, and that reaches no other (long)", async () => {
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = free.addr;
  free.close();
  const flags = ["--quiet", "--no-prompt", "--no-config", "--no-lock", "-A"];
  const words = ["run", ...flags, `npm:${PACKAGES.everything}`, "streamableHttp"];
  const child = new Deno.Command(Deno.execPath(), {
    ...{
      args: words,
      env: { PORT: String(port) },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    },
  }).spawn();
  const said = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let text = ""; !/listening on port/i.test(text);) {
      text += (await said.read()).value ??
        assert.fail(text);
    }
    await atDesk(async (siege) => {
      const far = await reviewed(siege, "far", {
        launch: { kind: "http", url: `http://127.0.0.1:${port}/mcp` },
      });
      assert.ok(far.tools.length > 5);
      const task = await siege.run({
        mcp: [far],
        onQuestion: "ask",
        turns: `${turn("far_echo", { message: "ahoy" })}${turn("far_get_sum", { a: 40, b: 2 })}
  - say: "{{ tool.mcp_far_echo }} {{ tool.mcp_far_get_sum }}"`,
      });
      // Whatever goes out asks, once anything untrusted was read; alice looks at it.
      yesToAll(siege, task);
      assert.equal((await task.end).status, "done");
      assert.match(String((await task.task())["answer"]), /ahoy.*42/s);
      const reached = task.events.filter(({ event, body }) =>
        event === "mcp" && body["what"] === "proxied"
      );
      assert.deepEqual(
        new Set(reached.map((each) => each.private["host"])),
        new Set([`127.0.0.1:${port}`]),
      );
    });
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await said.cancel();
  }
});

story("alice takes a folder back in the middle of a walk, which ends there (long)", async () => {
  await atDesk(async (siege, desk) => {
    for (let i = 0; i < 10_000; i++) Deno.mkdirSync(`${desk}/d${i}`);
    const task = await siege.run({
      mcp: [await filesystem(siege, desk, "read")],
      turns: `${turn("files_list_allowed_directories", {})}${
        turn("files_directory_tree", { path: desk })
      }${turn("files_list_directory", { path: desk })}
  - say: done`,
    });
    await task.first(({ event, body }) => event === "outcome" && body["outcome"] === "ok");
    const pid = await processOf(siege, "filesystem");
    /** Ticks of the processor that it had so far. */
    const worked = (): number => {
      const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(fields[11]) + Number(fields[12]);
    };
    const before = worked();
    // It was idle after its first call: what it works on now is the walk, which takes much longer.
    await waitUntil("the walk", () => worked() > before + 5 || undefined);
    await revoke(siege, task, `files${desk}`);
    assert.equal((await task.end).status, "done");
    const [, walk, list] = outcomes(task);
    assert.deepEqual([walk?.body["outcome"], list?.body["outcome"]], [
      "refusedByPolicy",
      "refusedByPolicy",
    ]);
    assert.match(String(walk?.private["error"]), /lease/);
    await gone(pid);
  });
});

story("a pipe in alice's folder keeps no server waiting: it is masked", async () => {
  await atDesk(async (siege, desk) => {
    const pipe = `${desk}/tide`;
    assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
    const task = await siege.run({
      mcp: [await filesystem(siege, desk, "read")],
      turns: `${turn("files_read_text_file", { path: pipe })}
  - say: done`,
    });
    assert.equal((await task.end).status, "done");
    assert.deepEqual(outcomes(task).map(({ body }) => body["outcome"]), ["executionError"]);
  });
});
