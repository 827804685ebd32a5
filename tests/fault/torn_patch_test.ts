/** The kernel is killed while files are being put in place: the folder is all old or all new. */
import assert from "node:assert/strict";
import { inHome, type KernelHome } from "../fake/kernel.ts";
import { filesOf } from "./desk.ts";

const FILES = Array.from({ length: 120 }, (_, n) => `f${n}.txt`);
const OLD = Object.fromEntries(FILES.map((name) => [name, "old\n"]));
const NEW = Object.fromEntries(FILES.map((name) => [name, "new\n"]));

/** Stages a change of every file, sixty a turn, and asks for all. */
function scenario(): string {
  const write = (name: string): string =>
    `      - { tool: file_write, args: { path: desk/${name}, content: "new\\n" } }`;
  const turns = [FILES.slice(0, 60), FILES.slice(60)].map((names) =>
    `  - calls:\n${names.map(write).join("\n")}`
  );
  return [
    "scenario: many",
    "turns:",
    ...turns,
    "  - calls: [{ tool: patch_apply }]",
    "  - say: Done.",
  ]
    .join("\n");
}

/** Runs until the first file is in place, kills, and tells whether the folder was then torn. */
async function tear(home: KernelHome): Promise<boolean> {
  for (const [name, text] of Object.entries(OLD)) {
    await Deno.writeTextFile(`${home.desk}/${name}`, text);
  }
  const kernel = await home.start();
  const watcher = Deno.watchFs(home.desk);
  await kernel.follow(await kernel.run({ scenario: scenario() }), { answer: "allow" });
  for await (const { kind } of watcher) if (kind === "rename") break;
  await kernel.kill();
  const texts = new Set(Object.values(await filesOf(home.desk)));
  return texts.has("old\n") && texts.has("new\n");
}

for (const answer of ["allow", "deny"] as const) {
  Deno.test(`a folder that a crash tore is whole before alice is asked, and after she says ${answer}`, async () => {
    let torn = 0;
    for (let tries = 0; tries < 10 && torn === 0; tries++) {
      await inHome(async (home) => {
        if (await tear(home)) torn++;
        const next = await home.start();
        const [task] = await next.ask("tasks", {}) as { id: string }[];
        const following = await next.follow(task?.id as never, { answer: "leave" });
        assert.deepEqual(await following.end, { status: "needsApproval", exit: 75 });
        const whole = await filesOf(home.desk);
        assert.ok(
          [OLD, NEW].some((each) => equal(each, whole)),
          "all old or all new, nothing beside",
        );

        following.close();
        const after = await next.follow(task?.id as never, { answer });
        assert.equal((await after.end).status, "done");
        assert.deepEqual(await filesOf(home.desk), answer === "allow" ? NEW : OLD);
        await next.kill();
        const last = await home.start();
        assert.deepEqual(await last.ask("ps", null), [], "nothing is left to be done");
      });
    }
    assert.ok(torn > 0, "a kill must hit the middle of an apply");
  });
}

function equal(a: Record<string, string>, b: Record<string, string>): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) return false;
    throw error;
  }
}
