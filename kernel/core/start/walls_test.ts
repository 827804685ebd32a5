import assert from "node:assert/strict";
import { lineOfCopy, lineOfPin, programPlace } from "./command_line.ts";
import { INSIDE, NAMESPACE } from "./line_parts.ts";
import { MountName } from "../../../contracts/authority/mod.ts";
import type { Child } from "../child/child.ts";
import { DEAF, HAS_BWRAP, HAS_PRLIMIT, makeWorld } from "../../_fixture/small_children.ts";
import { PROBES } from "./_fixture/walls_probes.ts";

/**
 * Verdicts that were reviewed, by profile: `allowed`, `denied` by Deno, or the error that stopped it.
 * After a new Deno: REMIT_ACCEPT=1 deno test -A kernel/core/start/walls_test.ts, and read the difference.
 */
const EXPECTED = new URL("./walls_expected.json", import.meta.url);

interface Probed {
  readonly child: Child;
  readonly root: string;
}

async function verdicts(
  start: () => Promise<Probed>,
  port: number,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  let { child, root } = await start();
  for (const [name, source] of Object.entries(PROBES)) {
    const filled = source.replaceAll("$ROOT", root).replaceAll("$PORT", String(port));
    const value = await child.port.ask("eval", `${filled}; return null`).catch(() => "!ended");
    const error = /^!(\w+)/.exec(String(value))?.[1];
    found[name] = error === undefined ? "allowed" : error === "NotCapable" ? "denied" : error;
    // Ending oneself is not an escape.
    if (error === "ended") ({ child, root } = await start());
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
    { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
    () => new Response("export default 1", { headers: { "content-type": "text/javascript" } }),
  );
  try {
    const { bwrap: _, ...bare } = world.config.programs;
    const children = await world.children(walled ? {} : { programs: bare });
    await Deno.writeTextFile(`${world.dir}/desk/x.json`, "{}");
    const start = profile === "worker"
      ? async () => ({ child: await children.worker(DEAF), root: `${world.dir}/desk` })
      : async () => {
        const { child, roots } = await children.toolhost({
          mounts: [{ name: MountName.parse("desk"), dir: `${world.dir}/desk`, mode: "stage" }],
          content: `${world.dir}/content`,
          scratch: `${world.dir}/scratch`,
          writable: false,
          judge: () => ({ allow: false, reason: "Cannot: no call is under way" }),
          handler: DEAF,
        });
        return { child, root: roots.mounts[0]?.root ?? "" };
      };
    const found = await verdicts(start, server.addr.port);
    const where = walled ? "with bubblewrap" : "without bubblewrap";
    check(profile === "worker" ? profile : `${profile} ${where}`, found);
  } finally {
    await world.close();
    await server.shutdown();
  }
}

Deno.test({
  name: "each wall around a worker stands as it was reviewed",
  ignore: !HAS_PRLIMIT,
  fn: () => probe("worker", true),
});
Deno.test({
  name: "each wall around a toolhost stands as it was reviewed, with bubblewrap",
  ignore: !HAS_BWRAP,
  fn: () => probe("toolhost", true),
});
Deno.test("each wall around a toolhost stands as it was reviewed, without bubblewrap", () =>
  probe("toolhost", false));

/**
 * With a judge that says yes to every path, the namespace alone must hold: what would have happened
 * had Deno's permissions failed.
 */
Deno.test({
  name: "the namespace alone keeps the machine's files, processes and network away",
  ignore: !HAS_BWRAP,
  async fn(): Promise<void> {
    const world = await makeWorld();
    try {
      const children = await world.children();
      const { child } = await children.toolhost({
        mounts: [{ name: MountName.parse("desk"), dir: `${world.dir}/desk`, mode: "stage" }],
        content: `${world.dir}/content`,
        scratch: `${world.dir}/scratch`,
        writable: false,
        judge: () => ({ allow: true }),
        handler: DEAF,
      });
      await Deno.symlink(`${world.dir}/content`, `${world.dir}/desk/out`);
      const of = async (source: string): Promise<string> =>
        String(await child.port.ask("eval", source));
      const list = async (path: string): Promise<string> =>
        await of(`return [...Deno.readDirSync("${path}")].map((e) => e.name).sort().join()`);
      assert.equal(await list("/"), ".remit-inside,lib,lib64,run,tmp,usr");
      assert.equal(await list(INSIDE), "content,dd,deno,m,scratch");
      assert.equal(await list(NAMESPACE.mounts), "desk");
      assert.equal(await list("/run"), "broker.sock");
      assert.match(await of(`return Deno.readTextFileSync("/etc/passwd")`), /^!NotFound/);
      assert.match(await of(`return Deno.statSync("${NAMESPACE.mounts}/desk/out")`), /^!NotFound/);
      assert.match(
        await of(`Deno.writeTextFileSync("${NAMESPACE.mounts}/desk/n", "x")`),
        /^!.*Read-only/,
      );
      assert.match(await of(`Deno.writeTextFileSync("/n", "x")`), /^!.*Read-only/);
      assert.match(
        await of(`Deno.writeTextFileSync("${NAMESPACE.denoDir}/n", "x")`),
        /^!.*Read-only/,
      );
      assert.match(
        await of(`Deno.writeTextFileSync("${world.dir}/child.js", "x")`),
        /^!.*Read-only/,
      );
      assert.match(
        await of(`Deno.mkdirSync("${NAMESPACE.mounts}/desk/../../../usr/x")`),
        /^!.*Read-only/,
      );
    } finally {
      await world.close();
    }
  },
});

Deno.test("whatever a home or a cache is called, a copy service finds its program beside its folders", () => {
  for (const name of ["content", "m", "work", "pins", "program", "deno", "dd", "scratch"]) {
    const bundle = `/${name}/alice/.cache/remit/copies.js`;
    const config = {
      programs: { deno: "/bin/deno", bwrap: "/bin/bwrap" },
      denoDir: "/c",
      dir: "/s",
    };
    const lines = [
      lineOfCopy(config, {
        ...{ bundle, content: "/c/content", work: "/c/work" },
        mounts: [{ name: MountName.parse("alice"), dir: "/home/alice" }],
      }),
      lineOfPin(config, { bundle, pins: "/c/pins", program: "/usr/bin/make" }),
    ];
    for (const { args } of lines) {
      const places = args.flatMap((word, at) =>
        /^--(ro-)?bind$/.test(word) ? [args[at + 2] ?? ""] : []
      ).filter((place) => place !== bundle);
      assert(places.length > 3);
      for (const place of places) {
        assert(!`${bundle}/`.startsWith(`${place}/`), `${place} hides ${bundle}`);
      }
    }
  }
  assert.equal(programPlace("/usr/bin/make"), "/usr/bin/make");
  assert.equal(programPlace("/m/desk/tool"), "/run/remit/granted/tool", "not within a copy");
});
