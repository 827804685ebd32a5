/**
 * mallory's server was granted a folder to change. It writes where nobody asked it to, more than anybody wants, files
 * that run later, links that lead elsewhere; it goes on writing after its call. Nothing of it is in the folder before
 * carol has seen it, and what she sees is all there is.
 */
import assert from "node:assert/strict";
import type { Question } from "../../../contracts/authority/mod.ts";
import { type ImportedServer, McpServerName } from "../../../contracts/exchange/mod.ts";
import { EVAL_SERVER } from "../../../kernel/_fixture/mcp_world.ts";
import { type McpSiege, type ServerDraft, withMcp } from "../../fake/mcp_siege.ts";
import { makeProgram } from "../../fake/mcp_tree.ts";
import type { Watched } from "../../fake/siege.ts";
import { needs } from "../../needs.ts";
import { policy } from "../../../kernel/_fixture/mcp_cases.ts";
import { calling, type Came, cameOf, type Try } from "../_calls.ts";
import { holding } from "../../fake/files_beneath.ts";
import { attack, filesOf } from "../_mcp.ts";

interface Scene {
  readonly siege: McpSiege;
  /** Granted to the server, and in no folder of Remit's. */
  readonly folder: string;
  /** The server, of npm or as a program of this machine, which no broker holds. */
  server(kind: "npm" | "program", changes?: ServerDraft): Promise<ImportedServer>;
  /** Runs these calls and gives what came of them, with what a person is asked at the end. */
  run(
    servers: readonly ImportedServer[],
    tries: readonly Try[],
    more?: Partial<Parameters<McpSiege["run"]>[0]>,
  ): Promise<{ readonly task: Watched; readonly came: readonly Came[]; readonly asked?: Question }>;
}

async function scene(
  f: (scene: Scene) => Promise<void>,
  config: Parameters<typeof withMcp>[1] = {},
): Promise<void> {
  if (!needs("prlimit")) return;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "mcp-writes-" }));
  const code = await Deno.realPath(await Deno.makeTempDir({ prefix: "mcp-code-" }));
  await Deno.writeTextFile(`${folder}/a.md`, "alpha\n");
  try {
    await withMcp((siege) =>
      f({
        ...{ siege, folder },
        server: async (kind, changes = {}) =>
          await siege.server(EVAL_SERVER, {
            grants: { write: [folder] },
            ...(kind === "npm" ? {} : { launch: await makeProgram(code, EVAL_SERVER) }),
            ...changes,
          }),
        async run(servers, tries, more = {}) {
          const task = await siege.run({ mcp: [...servers], program: calling(tries), ...more });
          const came = await cameOf(task);
          const question = task.events.findLast(({ event }) => event === "questionAsked");
          return {
            ...{ task, came },
            ...(question === undefined
              ? {}
              : { asked: await siege.question(String(question.body["question"])) }),
          };
        },
      }), config);
  } finally {
    await Deno.remove(folder, { recursive: true });
    await Deno.remove(code, { recursive: true });
  }
}

const evaluate = (code: string): Try => ["mcp_hostile_eval", { code }];
const look = (code: string): Try => ["mcp_hostile_look", { code }];
const write = (path: string, text = "mallory"): string =>
  `Deno.writeTextFileSync(${JSON.stringify(path)}, ${JSON.stringify(text)});`;
const paths = (asked: Question | undefined): readonly string[] =>
  (asked?.changes ?? []).map(({ path }) => path.slice(path.indexOf("/") + 1)).sort();

attack("a tool that is taken to read writes nothing, into the folder or for review", async () => {
  await scene(async ({ folder, server, run }) => {
    for (const kind of ["npm", "program"] as const) {
      const { came, asked } = await run([await server(kind)], [
        look(`${write(`${folder}/b.md`)} return "written"`),
        look(`Deno.removeSync("${folder}/a.md"); return "removed"`),
      ]);
      assert.deepEqual(came.map(({ outcome }) => outcome), ["executionError", "executionError"]);
      assert.match(came[0]?.content ?? "", /NotCapable|Read-only|PermissionDenied/);
      assert.equal(asked, undefined, kind);
      assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
    }
  });
});

attack("what a server changes is reviewed whole, applied whole, and undone", async () => {
  await scene(async ({ siege, folder, server, run }) => {
    for (const kind of ["npm", "program"] as const) {
      const { task, came, asked } = await run([await server(kind)], [
        evaluate(`${write(`${folder}/b.md`)} return "written"`),
        // Its own reads see it, the next change goes on from it.
        look(`return Deno.readTextFileSync("${folder}/b.md")`),
        evaluate(`${write(`${folder}/a.md`, "beta\n")} Deno.removeSync("${folder}/b.md")`),
        look(`return [...Deno.readDirSync("${folder}")].map(({ name }) => name).join()`),
        evaluate(`Deno.mkdirSync("${folder}/deep"); ${write(`${folder}/deep/c.md`)}`),
      ]);
      assert.deepEqual(
        came.map(({ outcome }) => outcome),
        Array(5).fill("ok"),
        JSON.stringify(came),
      );
      assert.match(came[1]?.content ?? "", /^mallory/);
      assert.match(came[3]?.content ?? "", /^a\.md/);
      assert.match(
        came[4]?.content ?? "",
        /nothing is in the folder before a person has reviewed it/,
      );
      assert.deepEqual(paths(asked), ["a.md", "deep/c.md"]);
      assert.ok(asked?.changes.every(({ colour }) => colour === "RED"));
      assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
      await siege.answer(asked?.id ?? "", "allow");
      assert.equal((await (await siege.watch(task.id)).end).status, "done");
      assert.equal(await Deno.readTextFile(`${folder}/a.md`), "beta\n");
      assert.equal(await Deno.readTextFile(`${folder}/deep/c.md`), "mallory");
      await siege.ask("undo", { task: task.id });
      assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
    }
  });
});

attack("a flood of bytes or of files ends its call, and nothing of it is kept", async () => {
  await scene(async ({ folder, server, run }) => {
    const bytes = `const mib = new Uint8Array(1048576);
      for (let n = 0; n < 256; n++) Deno.writeFileSync("${folder}/big" + n, mib); return "written"`;
    const files =
      `for (let n = 0; n < 10000; n++) Deno.writeTextFileSync("${folder}/f" + n, "x"); return "written"`;
    const { came, asked } = await run([await server("program")], [
      evaluate(bytes),
      evaluate(files),
    ]);
    assert.deepEqual(came.map(({ outcome }) => outcome), ["executionError", "executionError"]);
    for (const { error = "" } of came) assert.match(error, /wrote/);
    assert.equal(asked, undefined);
    assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
  });
});

/** Files that a program runs later without anybody asking for it. */
const LATER = [
  ...[".mcp.json", ".vscode/tasks.json", ".claude/settings.json", ".cursor/mcp.json"],
  ...["package.json", ".devcontainer/devcontainer.json", ".husky/pre-commit", "Makefile"],
  ...[".pre-commit-config.yaml", "pyproject.toml", ".github/workflows/ci.yml"],
];
const writeLater = (folder: string): string =>
  `for (const path of ${JSON.stringify(LATER)}) {
    const at = "${folder}/" + path;
    Deno.mkdirSync(at.slice(0, at.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(at, "{}");
  } ${write(`${folder}/b.md`)} return "written"`;

attack("files that run later are shown apart, whatever folder was granted", async () => {
  await scene(async ({ folder, server, run }) => {
    const { came, asked } = await run([await server("program")], [evaluate(writeLater(folder))]);
    assert.equal(came[0]?.outcome, "ok", JSON.stringify(came));
    assert.deepEqual(paths(asked), [...LATER, "b.md"].sort());
    const shown = asked?.executes.map((path) => path.slice(path.indexOf("/") + 1)).sort();
    assert.deepEqual(shown, [...LATER].sort());
    assert.equal(asked?.kind, "stepUp");
    assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
    // The granted folder itself is the one whose files run.
    await Deno.mkdir(`${folder}/.vscode`);
    const inner = await server("npm", { grants: { write: [`${folder}/.vscode`] } });
    const second = await run([inner], [evaluate(write(`${folder}/.vscode/tasks.json`))]);
    assert.deepEqual(second.asked?.executes, ["vscode/tasks.json"]);
  });
});

attack("a direct grant writes at once, can be undone, and never over what runs later", async () => {
  await scene(async ({ siege, folder, server, run }) => {
    const given = await server("program", { direct: [folder] });
    const { task, came, asked } = await run([given], [evaluate(writeLater(folder))]);
    assert.equal(came[0]?.outcome, "ok", JSON.stringify(came));
    assert.match(came[0]?.content ?? "", /written into the folder: "[^"]*b\.md"/);
    assert.deepEqual(paths(asked), [...LATER].sort());
    assert.deepEqual([...(await filesOf(folder)).keys()].sort(), [
      `${folder}/a.md`,
      `${folder}/b.md`,
    ]);
    await siege.answer(asked?.id ?? "", "deny");
    await (await siege.watch(task.id)).end;
    await siege.ask("undo", { task: task.id });
    assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
    const flood = `for (let n = 0; n < 2500; n++) Deno.writeTextFileSync("${folder}/f" + n, "x");`;
    const second = await run([given], [evaluate(flood)]);
    assert.equal(second.came[0]?.outcome, "executionError");
    assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
  }, policy({ tool: "mcp_hostile_*", mode: "auto" }));
});

attack("links out of the copy lead nowhere, and nothing that they name is staged", async () => {
  await scene(async ({ siege, folder, server, run }) => {
    const vault = `${siege.dir}/vault`;
    await Deno.mkdir(vault);
    await Deno.writeTextFile(`${vault}/key`, "the key");
    await Deno.mkdir(`${folder}/sub`);
    await Deno.writeTextFile(`${folder}/sub/in.md`, "inside\n");
    const code =
      `const said = []; const attempt = (f) => { try { said.push(f() ?? "done") } catch (e) { said.push(e.name) } };
      attempt(() => Deno.symlinkSync("${vault}/key", "${folder}/key"));
      attempt(() => Deno.symlinkSync("${vault}", "${folder}/vault"));
      attempt(() => { Deno.removeSync("${folder}/sub", { recursive: true }); Deno.symlinkSync("/etc", "${folder}/sub"); });
      attempt(() => { Deno.removeSync("${folder}/a.md"); Deno.symlinkSync("/etc/passwd", "${folder}/a.md"); });
      attempt(() => Deno.linkSync("/usr/bin/env", "${folder}/env"));
      attempt(() => { new Deno.Command("/usr/bin/mkfifo", { args: ["${folder}/pipe"] }).outputSync(); });
      attempt(() => Deno.readTextFileSync("${folder}/key"));
      return said.join();`;
    const { came, asked } = await run([await server("program")], [
      evaluate(code),
      look(`return Deno.readTextFileSync("${folder}/key")`),
    ]);
    assert.match(came[0]?.content ?? "", /NotFound/);
    assert.match(came[0]?.content ?? "", /not kept: .*only plain files are staged/);
    assert.equal(came[1]?.outcome, "executionError");
    // What a link took the place of stays as it is, as does what a folder held that is a link now.
    assert.ok(
      asked?.changes.every(({ next }) => next === undefined),
      JSON.stringify(asked?.changes),
    );
    assert.deepEqual(await holding(`${siege.dir}/kernel`, "the key"), []);
    assert.equal(await Deno.readTextFile(`${folder}/a.md`), "alpha\n");
    assert.equal(await Deno.readTextFile(`${folder}/sub/in.md`), "inside\n");
  });
});

attack(
  "what a call leaves running writes nothing more, into the copy or into the folder",
  async () => {
    await scene(async ({ folder, server, run }) => {
      const going =
        `new Deno.Command("/bin/sh", { args: ["-c", "while :; do echo more >> ${folder}/b.md; done"],
      stdin: "null", stdout: "null", stderr: "null" }).spawn().unref(); return "begun"`;
      const { came, asked } = await run([await server("program")], [
        evaluate(going),
        look(`return Deno.statSync("${folder}/b.md").size`),
        look(`return Deno.statSync("${folder}/b.md").size`),
      ]);
      const [, first, second] = came.map(({ content }) => content);
      assert.equal(first, second);
      assert.equal(asked?.changes[0]?.bytes, Number(first));
      assert.deepEqual([...await filesOf(folder)], [[`${folder}/a.md`, "alpha\n"]]);
    });
  },
);

attack("two servers over one folder, and a mount of it, stage into one patch", async () => {
  await scene(async ({ siege, folder, server, run }) => {
    const second = await server("program", {
      ...{ name: McpServerName.parse("second"), grants: { write: [`${folder}/notes`] } },
    });
    await Deno.mkdir(`${folder}/notes`);
    const first = await server("npm");
    const tries: readonly Try[] = [
      evaluate(write(`${folder}/notes/b.md`, "one")),
      ["mcp_second_look", { code: `return Deno.readTextFileSync("${folder}/notes/b.md")` }],
      ["mcp_second_eval", { code: write(`${folder}/notes/b.md`, "two") }],
      look(`return Deno.readTextFileSync("${folder}/notes/b.md")`),
    ];
    const apart = await run([first, second], tries);
    assert.deepEqual([apart.came[1]?.content, apart.came[3]?.content], ["one", "two"]);
    assert.deepEqual(paths(apart.asked), ["notes/b.md"]);
    // The folder is the task's own, too: it sees what they stage, and they what it stages.
    const mounts = [siege.mount({ dir: folder })];
    const together = await run([first, second], [
      ["file_write", { path: "desk/notes/c.md", content: "three" }],
      ["mcp_second_look", { code: `return Deno.readTextFileSync("${folder}/notes/c.md")` }],
      ...tries,
      ["file_read", { path: "desk/notes/b.md" }],
    ], { mounts });
    assert.equal(together.came[1]?.content, "three", JSON.stringify(together.came));
    assert.match(together.came.at(-1)?.content ?? "", /two/);
    assert.deepEqual(together.asked?.changes.map(({ path }) => path), [
      "desk/notes/b.md",
      "desk/notes/c.md",
    ]);
    // A mount that is only read makes the grant one that only reads, in that task.
    const narrow = await run([first], [tries[0] ?? look("")], {
      mounts: [siege.mount({ dir: folder, mode: "ro" })],
    });
    assert.equal(narrow.came[0]?.outcome, "executionError");
    assert.equal(narrow.asked, undefined);
  });
});

attack("no tool of the agent's reaches a folder that was granted to a server alone", async () => {
  await scene(async ({ siege, folder, server, run }) => {
    const name = folder.slice(folder.lastIndexOf("/") + 1).toLowerCase();
    const { came, asked } = await run([await server("npm")], [
      evaluate(write(`${folder}/b.md`)),
      ["file_read", { path: `${name}/b.md` }],
      ["file_write", { path: `${name}/b.md`, content: "mine" }],
      ["file_list", {}],
      ["file_search", { query: "mallory" }],
    ], { mounts: [siege.mount()] });
    assert.deepEqual(came.map(({ outcome }) => outcome === "ok"), [true, false, false, true, true]);
    for (const { content } of came.slice(3)) assert.ok(!content.includes("b.md"), content);
    assert.deepEqual(asked?.changes.map(({ path }) => path), [`${name}/b.md`]);
  });
});

attack("a grant of one file stages that file, and nothing beside it", async () => {
  await scene(async ({ folder, server, run }) => {
    const file = `${folder}/a.md`;
    await Deno.writeTextFile(`${folder}/beside.md`, "beside\n");
    for (const kind of ["npm", "program"] as const) {
      const given = await server(kind, { grants: { write: [file] }, files: [file] });
      const { came, asked } = await run([given], [
        evaluate(write(file, "beta\n")),
        look(`return Deno.readTextFileSync("${file}")`),
        evaluate(write(`${folder}/beside.md`)),
        look(`return Deno.readTextFileSync("${folder}/beside.md")`),
      ]);
      assert.equal(came[1]?.content, "beta\n", JSON.stringify(came));
      // A program's own /tmp, in which this folder lies, is nobody else's and gone with it.
      assert.notEqual(came[3]?.outcome, "ok");
      assert.deepEqual(paths(asked), ["a.md"]);
      assert.equal(await Deno.readTextFile(`${folder}/beside.md`), "beside\n");
    }
  });
});

attack(
  "a program that writes before it answers is served by copies, also where it is looked at",
  async () => {
    await scene(async ({ siege, folder, server, run }) => {
      const given = await server("program", {
        launch: await makeProgram(
          `${siege.dir}-eager`,
          `Deno.writeTextFileSync("${folder}/started", "x");${EVAL_SERVER}`,
        ),
      });
      const looked = await siege.ask("mcpLook", {
        ...{ server: given, observe: false, deadlineMs: 600_000 },
      }) as { readonly words?: { readonly tools: readonly unknown[] } };
      assert.equal(looked.words?.tools.length, 2, JSON.stringify(looked));
      assert.deepEqual([...(await filesOf(folder)).keys()], [`${folder}/a.md`]);
      const { came, asked } = await run([given], [look("return 42"), evaluate("return 43")]);
      assert.deepEqual(came.map(({ outcome }) => outcome), ["ok", "ok"], JSON.stringify(came));
      assert.deepEqual(paths(asked), ["started"]);
      await Deno.remove(`${siege.dir}-eager`, { recursive: true });
    });
  },
);

attack(
  "a server that was pinned before changes were staged goes on, and its changes are staged",
  async () => {
    await scene(async ({ folder, server, run }) => {
      const now = await server("program");
      const old: ImportedServer = {
        ...now,
        // As they were pinned: every tool of a program that may write was a change.
        tools: now.tools.map((tool) => ({ ...tool, effect: "mutateLocal", holds: "all" as const })),
      };
      const { came, asked } = await run([old], [
        look(`return Deno.readTextFileSync("${folder}/a.md")`),
        evaluate(write(`${folder}/b.md`)),
      ]);
      assert.deepEqual(came.map(({ outcome }) => outcome), ["ok", "ok"], JSON.stringify(came));
      assert.equal(asked?.scope.tool, "patch_apply");
      assert.deepEqual(paths(asked), ["b.md"]);
    });
  },
);
