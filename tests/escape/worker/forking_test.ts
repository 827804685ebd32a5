import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

Deno.test("mallory's fork bomb would have filled the machine with processes", async () => {
  await attack(
    `const told = [];
     const started = async (f) => { try { const r = await f(); told.push("started " + r); } catch (e) { told.push(e.name); } };
     for (const program of ["/bin/sh", "deno", "/usr/bin/env"]) {
       await started(() => new Deno.Command(program, { args: ["-c", "true"] }).spawn().pid);
       await started(() => new Deno.Command(program, { args: ["-c", "true"] }).outputSync().code);
     }
     const child = await import("node:child_process");
     for (const f of [
       () => child.spawnSync("/bin/sh", ["-c", "true"]).pid || Promise.reject(new RangeError("none")),
       () => child.execFileSync("/bin/true"),
       () => child.fork("data:text/javascript,").pid,
       () => new Deno.Command("/proc/self/exe").spawn().pid,
     ]) await started(f);
     return { stop: "answered", text: told.join() };`,
    async ({ siege, mallory }) => {
      const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
      const [os = 0] = rows.find(({ task }) => task === mallory.id)?.os ?? [];
      if (os !== 0) assert.equal(childrenOf(os), "");
      assert.equal((await mallory.end).status, "done");
      const answer = String((await mallory.task())["answer"]);
      assert.equal(answer.split(",").length, 10);
      assert.equal(answer.includes("started"), false, answer);
    },
  );
});

function childrenOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
  } catch {
    return "";
  }
}
