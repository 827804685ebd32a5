import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

Deno.test("mallory's signals would have ended the kernel and other people's workers", async () => {
  await attack(
    `const told = []; const process = (await import("node:process")).default;
     for (const kill of [(pid) => Deno.kill(pid, "SIGKILL"), (pid) => process.kill(pid, "SIGKILL")]) {
       for (const pid of [process.ppid ?? 1, 1, -1]) { try { kill(pid); told.push("killed"); } catch (e) { told.push(e.name); } }
     }
     return { stop: "answered", text: told.join() };`,
    async ({ mallory }) => {
      assert.equal((await mallory.end).status, "done");
      assert.equal(String((await mallory.task())["answer"]).includes("killed"), false);
    },
  );
});
