/** Would have come out: a never-listed file, by a second name, a link, or a folder put in another's place. */
import assert from "node:assert/strict";
import { besiege } from "../../fake/siege.ts";
import { calling, cameOf, type Try } from "../_calls.ts";
import { yesToAll } from "../../fake/yes_to_all.ts";

const SECRET = "juniper-lantern-2290";

for (const mode of ["ro", "rw"] as const) {
  Deno.test(`a second name of a never-listed file stays closed, an honest one is open, with the mount ${mode}`, async () => {
    await besiege(async (siege) => {
      const { desk, dir } = siege;
      await Deno.writeTextFile(`${desk}/.env`, `ALONE=${SECRET}\n`);
      await Deno.writeTextFile(`${desk}/deploy.pem`, `KEY=${SECRET}\n`);
      await Deno.link(`${desk}/deploy.pem`, `${desk}/notes/hard.md`);
      await Deno.mkdir(`${desk}/.ssh`);
      await Deno.writeTextFile(`${desk}/.ssh/config`, `HOST=${SECRET}\n`);
      await Deno.link(`${desk}/.ssh/config`, `${desk}/notes/config.md`);
      await Deno.symlink("hard.md", `${desk}/notes/link.md`);
      await Deno.symlink("../deploy.pem", `${desk}/notes/pem.md`);
      await Deno.writeTextFile(`${desk}/pnpm.js`, "module shared\n");
      await Deno.link(`${desk}/pnpm.js`, `${dir}/store.js`);
      await Deno.symlink("pnpm.js", `${desk}/AGENTS.md`);
      const closed = ["notes/hard.md", "notes/config.md", "notes/link.md", "notes/pem.md", ".env"];
      const tries: readonly Try[] = [
        ...closed.flatMap((name): Try[] => [
          ["file_read", { path: `desk/${name}` }],
          ["file_search", { query: "=", path: `desk/${name}` }],
          ["outbox_publish", { path: `desk/${name}` }],
          // Keys of the kernel's own, written by the one whom they would have to stop.
          ["file_read", {
            path: `desk/${name}`,
            $secondNames: { desk: { inodes: [], open: false } },
          }],
          ["file_read", { path: `desk/${name}`, $followed: ["desk/deploy.pem"] }],
          ["host_survey", { mount: "desk" }],
        ]),
        ["file_search", { query: SECRET }],
        ["file_read", { path: "desk/pnpm.js" }],
        ["file_read", { path: "desk/AGENTS.md" }],
        ["file_search", { query: "shared" }],
      ];
      const limits = { questions: 1_000, toolCalls: 1_000 };
      const mallory = await siege.run({
        ...{ program: calling(tries), mounts: [siege.mount({ mode })], onQuestion: "ask", limits },
      });
      yesToAll(siege, mallory);
      const came = await cameOf(mallory);
      const honest = came.slice(-3);
      for (const [i, each] of came.slice(0, -3).entries()) {
        const said = JSON.stringify([tries[i], each]);
        assert.equal(`${each.content}${each.error}`.includes(`=${SECRET}`), false, said);
        assert.equal(each.outcome === "ok" && tries[i]?.[0] !== "file_search", false, said);
      }
      assert.deepEqual(honest.slice(0, 2).map(({ content }) => content), [
        "module shared\n",
        "module shared\n",
      ]);
      assert.match(honest[2]?.content ?? "", /desk\/pnpm\.js:1: module shared/);
    });
  });
}
