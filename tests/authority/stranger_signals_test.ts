import assert from "node:assert/strict";
import { besiege, gone } from "../fake/siege.ts";

/** A parent whose child tries every process number there is, with every signal; then the parent tries. */
const PROGRAM = `({ async turn(ports, { content }) {
  if (content === "sleep") for (;;) await new Promise((r) => setTimeout(r, 1_000));
  const told = [];
  const tryAll = async () => {
    for (let pid = 1; pid < 12; pid++) for (const signal of ["SIGKILL", "SIGSTOP", "SIGXCPU"]) {
      told.push(await ports.kill(pid, signal).then(() => "signalled " + pid, (e) => e.code));
      if (signal === "SIGKILL") told.push(await Promise.race([ports.wait(pid).then(() => "waited " + pid, (e) => e.code)]));
    }
  };
  if (content === "child") { await tryAll(); return { stop: "answered", text: JSON.stringify(told) }; }
  const { pid } = await ports.spawn({ persona: "", request: "child", tools: [], limits: {} });
  const text = (await ports.wait(pid)).text;
  return { stop: "answered", text };
} })`;

Deno.test("mallory's child would have killed its parent, the kernel and bob's task", async () => {
  await besiege(async (siege) => {
    const bob = await siege.run({
      program:
        `({ async turn(ports) { await new Promise((r) => ports.listen({ signal: r })); return { stop: "answered", text: "well" }; } })`,
    });
    const mallory = await siege.run({ program: PROGRAM });
    assert.equal((await mallory.end).status, "done");
    const told = JSON.parse(String((await mallory.task())["answer"])) as string[];
    assert.equal(told.length, 44);
    assert.deepEqual([...new Set(told)], ["refused"]);
    const rows = await siege.ask("ps", null) as { pid: number; task: string; state: string }[];
    const row = rows.find(({ task }) => task === bob.id);
    assert.equal(row?.state, "running");
    await siege.ask("kill", { pid: row?.pid, signal: "SIGCTXPRESSURE" });
    assert.equal((await bob.end).exit, 0);
  });
});

Deno.test("a child would have lived on after its parent was killed", async () => {
  await besiege(async (siege) => {
    const spawner = `({ async turn(ports, { content }) {
      const tools = [];
      if (content !== "leaf") await ports.spawn({ persona: "", request: content === "child" ? "leaf" : "child", tools, limits: {} });
      for (;;);
    } })`;
    const mallory = await siege.run({ program: spawner });
    let rows: { pid: number; ppid: number | null; os: number[] }[] = [];
    // A busy wait on answers of the kernel: until the grandchild has a process.
    while (rows.length < 3 || rows.some(({ os }) => os.length === 0)) {
      rows = await siege.ask("ps", null) as typeof rows;
    }
    const root = rows.find(({ ppid }) => ppid === null);
    await siege.ask("kill", { pid: root?.pid, signal: "SIGKILL" });
    await gone(rows.flatMap(({ os }) => os));
    assert.equal((await mallory.end).status, "cancelled");
    assert.deepEqual(await siege.ask("ps", null), []);
  });
});
