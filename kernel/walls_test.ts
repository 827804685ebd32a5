import assert from "node:assert/strict";
import { MountName } from "../contracts/mod.ts";
import type { Child } from "./child.ts";
import { DEAF, HAS_BWRAP, makeWorld } from "./_fixture_test.ts";
import { PROBES } from "./walls_probes.ts";

/**
 * Verdicts that were reviewed, by profile: `allowed`, `denied` by Deno, or the error that stopped it.
 * After a new Deno: REMIT_ACCEPT=1 deno test -A kernel/walls_test.ts, and read the difference.
 */
const EXPECTED = new URL("./walls_expected.json", import.meta.url);

async function verdicts(child: Child, root: string, port: number): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, source] of Object.entries(PROBES)) {
    const filled = source.replaceAll("$ROOT", root).replaceAll("$PORT", String(port));
    const value = await child.port.ask("eval", `${filled}; return null`);
    const error = /^!(\w+)/.exec(String(value))?.[1];
    found[name] = error === undefined ? "allowed" : error === "NotCapable" ? "denied" : error;
  }
  return found;
}

function check(profile: string, found: Readonly<Record<string, string>>): void {
  const all = JSON.parse(Deno.readTextFileSync(EXPECTED));
  if (Deno.env.get("REMIT_ACCEPT") === "1") {
    Deno.writeTextFileSync(EXPECTED, `${JSON.stringify({ ...all, [profile]: found }, null, 2)}\n`);
    return;
  }
  assert.deepEqual(found, all[profile]);
}

async function probe(profile: "worker" | "toolhost", walled: boolean): Promise<void> {
  const world = await makeWorld();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response("export default 1", { headers: { "content-type": "text/javascript" } }),
  );
  try {
    const { bwrap: _, ...bare } = world.config.programs;
    const children = await world.children(walled ? {} : { programs: bare });
    await Deno.writeTextFile(`${world.dir}/desk/x.json`, "{}");
    if (profile === "worker") {
      const child = await children.worker(DEAF);
      check("worker", await verdicts(child, `${world.dir}/desk`, server.addr.port));
      return;
    }
    const { child, roots } = await children.toolhost({
      mounts: [{
        name: MountName.parse("desk"),
        dir: `${world.dir}/desk`,
        mode: "stage",
        colour: "YELLOW",
        label: "internal",
        marks: [],
      }],
      content: `${world.dir}/content`,
      scratch: `${world.dir}/scratch`,
      writable: false,
      judge: () => ({ allow: false, reason: "Cannot: no call is under way" }),
      handler: DEAF,
    });
    const found = await verdicts(child, roots.mounts[0]?.root ?? "", server.addr.port);
    check(walled ? "toolhost with bubblewrap" : "toolhost without bubblewrap", found);
  } finally {
    await world.close();
    await server.shutdown();
  }
}

Deno.test("each wall around a worker stands as it was reviewed", () => probe("worker", true));
Deno.test({
  name: "each wall around a toolhost stands as it was reviewed, with bubblewrap",
  ignore: !HAS_BWRAP,
  fn: () => probe("toolhost", true),
});
Deno.test("each wall around a toolhost stands as it was reviewed, without bubblewrap", () =>
  probe("toolhost", false));

/**
 * With a judge that says yes to every path, the namespace alone must hold: what would have happened
 * had Deno's permissions failed. DESIGN section 4: walls, each tested alone.
 */
Deno.test({
  name: "the namespace alone keeps the machine's files, processes and network away",
  ignore: !HAS_BWRAP,
  async fn() {
    const world = await makeWorld();
    try {
      const children = await world.children();
      const { child } = await children.toolhost({
        mounts: [{
          name: MountName.parse("desk"),
          dir: `${world.dir}/desk`,
          mode: "stage",
          colour: "YELLOW",
          label: "internal",
          marks: [],
        }],
        content: `${world.dir}/content`,
        scratch: `${world.dir}/scratch`,
        writable: false,
        judge: () => ({ allow: true }),
        handler: DEAF,
      });
      await Deno.symlink(`${world.dir}/child.js`, `${world.dir}/desk/out`);
      const of = async (source: string): Promise<string> =>
        String(await child.port.ask("eval", source));
      const list = async (path: string): Promise<string> =>
        await of(`return [...Deno.readDirSync("${path}")].map((e) => e.name).sort().join()`);
      assert.equal(
        await list("/"),
        "child.js,content,dd,deno,lib,lib64,m,run,scratch,tmp,usr",
      );
      assert.equal(await list("/m"), "desk");
      assert.equal(await list("/run"), "broker.sock");
      assert.match(await of(`return Deno.readTextFileSync("/etc/passwd")`), /^!NotFound/);
      assert.match(await of(`return Deno.readTextFileSync("/m/desk/out")`), /^!NotFound/);
      assert.match(await of(`Deno.writeTextFileSync("/m/desk/n", "x")`), /^!.*Read-only/);
      assert.match(await of(`Deno.writeTextFileSync("/n", "x")`), /^!.*Read-only/);
      assert.match(await of(`Deno.writeTextFileSync("/dd/n", "x")`), /^!.*Read-only/);
      assert.match(await of(`Deno.writeTextFileSync("/child.js", "x")`), /^!.*Read-only/);
      assert.match(await of(`Deno.mkdirSync("/m/desk/../../usr/x")`), /^!.*Read-only/);
    } finally {
      await world.close();
    }
  },
});
