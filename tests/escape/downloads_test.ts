/** Downloads in a whole kernel: mallory's agent names where one lies, and her site never comes to an end. */
import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { granting, realTools } from "../fake/tools.ts";
import { yesToAll } from "../fake/yes_to_all.ts";
import { calling, cameOf, type Try } from "./_calls.ts";

/** Names that would lie elsewhere, were they taken as the system takes them. */
const ELSEWHERE = [
  "scratch/../desk/notes/plan.md",
  "scratch/../../../../etc/passwd",
  "scratch/./../desk/new.md",
  "scratch//etc/passwd",
  "scratch/a/../../desk/new.md",
  "scratch/a\\..\\..\\desk",
  "scratch/a\u0000.md",
  "desk/new.md",
  "/etc/passwd",
  "Scratch/new.md",
];

Deno.test("mallory downloads over the plan on the desk, and eight times what has no end: nothing is written", async () => {
  const seen: string[] = [];
  const endless = (): ReadableStream<Uint8Array> => {
    const chunk = new TextEncoder().encode("x,y\n".repeat(16_384));
    return new ReadableStream({ pull: (to) => to.enqueue(chunk) });
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    (request) => {
      const { pathname } = new URL(request.url);
      seen.push(pathname);
      const body = pathname === "/endless" ? endless() : "taken,over\n";
      return new Response(body, { headers: { "content-type": "text/csv" } });
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  try {
    const config = { tools: await realTools(), policy: granting([origin], "internal") };
    await besiege(async (siege) => {
      const before = await Deno.readTextFile(`${siege.desk}/notes/plan.md`);
      const limits = { toolCalls: 1_000, questions: 1_000 };
      const runs = async (tries: readonly Try[]) => {
        const mallory = await siege.run({ program: calling(tries), limits, onQuestion: "ask" });
        yesToAll(siege, mallory);
        return await cameOf(mallory);
      };
      const download = (path: string, at = "/x"): Try => [
        "browser_download",
        { url: `${origin}${at}`, path },
      ];
      const came = await runs(ELSEWHERE.map((path) => download(path)));
      for (const [i, one] of came.entries()) {
        assert.notEqual(one.outcome, "ok", JSON.stringify([ELSEWHERE[i], one]));
      }
      assert.equal(await Deno.readTextFile(`${siege.desk}/notes/plan.md`), before);
      assert.deepEqual(
        [...Deno.readDirSync(siege.desk)].filter(({ name }) => name.startsWith("new")),
        [],
      );

      const many = await Promise.all(
        Array.from({ length: 8 }, () => runs([download("scratch/data.csv", "/endless")])),
      );
      for (const [one] of many) {
        assert.match(one?.error ?? "", /more than 1000000 bytes.*nothing was saved/);
      }
      const [good] = await runs([download("scratch/data.csv")]);
      assert.match(good?.content ?? "", /^saved scratch\/data\.csv: 11 characters/);
      assert.equal(seen.filter((path) => path === "/endless").length, 8);
    }, { config });
  } finally {
    await server.shutdown();
  }
});
