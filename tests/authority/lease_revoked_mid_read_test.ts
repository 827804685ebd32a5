import assert from "node:assert/strict";
import { besiege, gone } from "../fake/siege.ts";

Deno.test("a lease taken back in the middle of a long read would have been read to the end", async () => {
  await besiege(async (siege) => {
    const line = `${"a long line of a long book ".repeat(40)}\n`;
    const book = line.repeat(4_000);
    for (let n = 0; n < 40; n++) await Deno.writeTextFile(`${siege.desk}/book-${n}.txt`, book);
    const task = await siege.run({
      turns: `
  - calls: [{ tool: file_search, args: { query: Zebra, ignoreCase: true, path: desk } }]
  - calls: [{ tool: scratch_write, args: { path: scratch/a, content: still here } }]
  - calls: [{ tool: file_read, args: { path: scratch/a } }]
  - say: "{{ tool.file_read }}"`,
    });
    await task.first(({ event }) => event === "inferred");
    const pids = async (): Promise<readonly number[]> => {
      const rows = await siege.ask("ps", null) as { task: string; os: number[] }[];
      return rows.find((row) => row.task === task.id)?.os ?? [];
    };
    let os = await pids();
    // A busy wait on answers of the kernel: until the toolhost runs.
    while (os.length < 2) os = await pids();
    const host = os.at(-1) ?? 0;
    const leases = await siege.ask("leases", { task: task.id }) as {
      id: string;
      scope: { resource: string; right: string };
    }[];
    const lease = leases.find(({ scope }) => scope.resource === "mount" && scope.right === "read");
    await siege.ask("revoke", { lease: lease?.id });
    await gone(host);
    assert.deepEqual(await task.end, { task: task.id, status: "done", exit: 0 });
    assert.equal((await task.task())["answer"], "still here");
    const search = task.events.find(({ event, body }) =>
      event === "outcome" && body["tool"] === "file_search"
    );
    assert.equal(search?.body["outcome"], "refusedByPolicy");
    assert.match(String(search?.private["error"]), /lease/);
  });
});
