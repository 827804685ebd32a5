/** Calls of imported tools that a kernel's death cut off. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import type { Question } from "../../../contracts/authority/mod.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import type { Watched } from "../../../tests/fake/siege.ts";
import { runs } from "../../../tests/fake/siege.ts";
import { ASKING_SERVER, evaluating, withMcp } from "../../../tests/fake/mcp_siege.ts";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";

const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, ignore: !HAS_BWRAP, fn });

async function withFolder(f: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "binding-" }));
  try {
    await f(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Hangs until the file is there. */
const waitingFor = (file: string): string =>
  `for (;;) try { return Deno.readTextFileSync(${
    JSON.stringify(file)
  }) } catch { await new Promise((r) => setTimeout(r, 20)) }`;

const started = (task: Watched) =>
  task.first(({ event, body }) => event === "mcp" && body["what"] === "started");

test("a call that reads is made again after kill -9; its server had died with the kernel", async () => {
  await withFolder((folder) =>
    withMcp(async (siege) => {
      const server = await siege.server(ASKING_SERVER, { grants: { read: [folder] } });
      const task = await siege.run({
        mcp: [server],
        turns: `${evaluating(waitingFor(`${folder}/go`), "mcp_hostile_look")}
  - say: "{{ tool.mcp_hostile_look }}"`,
      });
      await started(task);
      const [{ os }] = await siege.ask("ps", null) as [{ os: number[] }];
      await siege.restart();
      await Deno.writeTextFile(`${folder}/go`, "it went on");
      for (const pid of os) {
        // TIMER: the end of a process that is not a child gives no event.
        while (runs(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const again = await siege.watch(task.id);
      equal((await again.end).status, "done");
      match(String((await again.task())["answer"]), /it went on/);
      const calls = again.events.filter(({ event }) => event === "outcome");
      deepEqual(calls.map(({ body }) => [body["tool"], body["outcome"]]), [
        ["mcp_hostile_look", "ok"],
      ]);
    })
  );
});

test("a call that may have changed something becomes a question after kill -9, and is not made again", async () => {
  await withFolder((folder) =>
    withMcp(async (siege) => {
      const server = await siege.server(ASKING_SERVER, {
        ...{ grants: { write: [folder] }, direct: [folder] },
      });
      const code = `Deno.writeTextFileSync(${JSON.stringify(`${folder}/log`)}, "once\\n");
        await new Promise(() => {})`;
      const task = await siege.run({
        mcp: [server],
        turns: `${evaluating(code)}
  - say: "{{ tool.mcp_hostile_eval }}"`,
      });
      await started(task);
      await siege.restart();
      const again = await siege.watch(task.id);
      equal((await again.end).status, "needsApproval");
      const [question] = await siege.ask("questions", { task: task.id }) as Question[];
      equal(question?.kind, "recovery");
      ok(question?.scope.tool === "mcp_hostile_eval");
      // The call had not ended: nothing of it is there.
      await rejects(Deno.stat(`${folder}/log`), Deno.errors.NotFound);
    }, {
      policy: { ...NO_POLICY, rules: [{ tool: "mcp_hostile_*", mode: "auto", at: "test" }] },
    })
  );
});

test("what was taken back stays taken back after kill -9", async () => {
  await withFolder((folder) =>
    withFolder((other) =>
      withMcp(async (siege) => {
        await Deno.writeTextFile(`${folder}/a.txt`, "alpha");
        const server = await siege.server(ASKING_SERVER, { grants: { read: [folder, other] } });
        const read = `for (;;) {
            try { Deno.statSync(${JSON.stringify(`${other}/go`)}); break }
            catch { await new Promise((r) => setTimeout(r, 20)) }
          }
          try { return Deno.readTextFileSync(${JSON.stringify(`${folder}/a.txt`)}) }
          catch (e) { return "denied: " + e.message }`;
        const task = await siege.run({
          mcp: [server],
          turns: `${evaluating("await new Promise(() => {})", "mcp_hostile_look")}${
            evaluating(read, "mcp_hostile_look")
          }
  - say: "{{ tool.mcp_hostile_look }}"`,
        });
        await started(task);
        const leases = await siege.ask("leases", { task: task.id }) as {
          id: string;
          scope: { path: string };
        }[];
        const lease = leases.find(({ scope }) => scope.path === `hostile${folder}`);
        await siege.ask("revoke", { lease: lease?.id });
        // The second call is under way in a fresh process when the kernel dies.
        let starts = 0;
        await task.first(({ event, body }) =>
          event === "mcp" && body["what"] === "started" && ++starts === 2
        );
        await siege.restart();
        await Deno.writeTextFile(`${other}/go`, "x");
        const again = await siege.watch(task.id);
        equal((await again.end).status, "done");
        match(String((await again.task())["answer"]), /denied: .*not granted/);
      })
    )
  );
});
