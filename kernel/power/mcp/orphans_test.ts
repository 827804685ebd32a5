import { deepEqual, equal, ok } from "node:assert/strict";
import { waitUntil } from "../../../tests/fake/wait_until.ts";
import { HAS_BWRAP, runs } from "../../_fixture/small_children.ts";
import { EVAL_SERVER, makeMcpWorld, TASK } from "../../_fixture/mcp_world.ts";
import { TaskId } from "../../../contracts/authority/mod.ts";

const here = import.meta.url;

/** A kernel's share of servers, whose server spins, in a process of its own: says what runs, and waits. */
const KERNEL = `
import { EVAL_SERVER, makeMcpWorld, TASK } from ${
  JSON.stringify(new URL("../../_fixture/mcp_world.ts", here).href)
};
const mcp = await makeMcpWorld();
const server = await mcp.server(EVAL_SERVER);
await mcp.run(server, "return 1");
void mcp.run(server, "for (;;);", { deadlineMs: 600_000 });
await mcp.servers.hold(TASK, server);
console.log(JSON.stringify({ pids: mcp.servers.osPids(TASK) }));
setInterval(() => {}, 1000);
`;

Deno.test({
  name: "kill -9 of the kernel leaves neither a server nor its bridge, also when the server spins",
  ignore: !HAS_BWRAP,
  async fn() {
    // What it would remove at its end lies here.
    const folder = await Deno.makeTempDir({ prefix: "remit-o-" });
    const kernel = new Deno.Command(Deno.execPath(), {
      env: { TMPDIR: folder },
      args: ["run", "-A", "--config", new URL("../../../deno.json", here).pathname, "-"],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const input = kernel.stdin.getWriter();
    await input.write(new TextEncoder().encode(KERNEL));
    await input.close();
    let said = "";
    for await (const chunk of kernel.stdout) {
      said += new TextDecoder().decode(chunk);
      if (said.includes("\n")) break;
    }
    const { pids } = JSON.parse(said) as { pids: number[] };
    const all = [...pids, ...pids.flatMap(below)];
    ok(all.length >= 3 && all.every(runs), `${all}`);
    kernel.kill("SIGKILL");
    await kernel.status;
    await until(() => !all.some(runs));
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name: "twenty servers start at a time over two broker sockets, and end with their task (long)",
  ignore: !HAS_BWRAP,
  async fn() {
    await using mcp = await makeMcpWorld();
    const server = await mcp.server(EVAL_SERVER);
    const tasks = Array.from(
      { length: 20 },
      (_, n) => TaskId.parse(`t0000000001${String(n).padStart(2, "0")}`),
    );
    const answers = await Promise.all(
      tasks.map((task) =>
        mcp.servers.hold(task, server).ask(
          "call",
          { tool: "eval", args: { code: "return 7" } },
          mcp.under(),
        )
      ),
    );
    equal(answers.filter((each) => JSON.stringify(each).includes('"7"')).length, 20);
    const pids = tasks.flatMap((task) => mcp.servers.osPids(task));
    equal(pids.length, 40);
    await Promise.all(tasks.map((task) => mcp.servers.close(task)));
    deepEqual(pids.filter(runs), []);
    deepEqual(mcp.servers.osPids(TASK), []);
  },
});

/** Processes whose parent is `pid`, and theirs. */
function below(pid: number): readonly number[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
      return parent === String(pid) ? [Number(name), ...below(Number(name))] : [];
    } catch {
      return [];
    }
  });
}

/** Waits for what another process does. */
async function until(done: () => boolean): Promise<void> {
  await waitUntil("what another process does", () => done() || undefined);
}
