/** What whoever starts Remit has open stays with them: no process of Remit inherits it. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";
import { waitUntil } from "../fake/wait_until.ts";

const THINKS = `
scenario: thinks
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - calls: [{ tool: exec, args: { code: "1" } }]
  - say: I think.
    hang: true
`;

/** Where the descriptors of a process lead. */
function leadsOf(pid: number): readonly string[] {
  const leads: string[] = [];
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    try {
      leads.push(Deno.readLinkSync(`/proc/${pid}/fd/${name}`));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return leads;
}

Deno.test({
  name: "a folder that alice's shell has open is open in no process of Remit",
  ignore: Deno.build.os !== "linux",
  async fn(): Promise<void> {
    await onMachine(async (machine) => {
      const open = `${machine.dir}/vault`;
      await Deno.mkdir(open);
      const words = [...await alicesPlans(machine), ...await playing(machine, THINKS)];
      const shell = new Deno.Command("/bin/sh", {
        args: [
          "-c",
          `exec 5<"${open}"; exec "$@"`,
          "sh",
          ...machine.command(["run", "-p", "Think", ...words]),
        ],
        cwd: machine.dir,
        env: { ...machine.env },
        clearEnv: true,
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      assert.ok(
        await waitUntil(
          "the open folder",
          () => Promise.resolve(leadsOf(shell.pid).includes(open) || undefined),
        ),
      );
      const tree = await waitUntil("a toolhost and a plugin host", async () => {
        const pids = (await machine.processes()).filter((pid) => pid !== shell.pid);
        const all = [...new Set([...pids, ...pids.flatMap(childrenOf)])];
        const lines = all.map(lineOf).join();
        const whole = ["kernel.js", "toolhost.js", "plugin.js"].every((each) =>
          lines.includes(each)
        );
        return whole ? all : undefined;
      });
      for (const pid of tree) {
        let leads: readonly string[] = [];
        try {
          leads = leadsOf(pid);
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        }
        assert.ok(!leads.includes(open), `process ${pid}`);
      }
      shell.kill("SIGKILL");
      await shell.status;
    });
  },
});

function lineOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    const direct = text.trim().split(" ").filter((each) => each !== "").map(Number);
    return [...direct, ...direct.flatMap(childrenOf)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
