import { equal, ok } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { HostCallAnswer } from "../../contracts/wire/wire_toolhost.ts";
import { makePort } from "../../port/mod.ts";
import { makeRig } from "../_fixture/rig.ts";

/** Flips `path` between two states for ever: an honest one and a link to `secret`. */
const FLIP_FILE = `
const [path, secret] = Deno.args;
Deno.writeTextFileSync(path + ".good", "honest");
for (;;) {
  Deno.symlinkSync(secret, path + ".l"); Deno.renameSync(path + ".l", path);
  Deno.linkSync(path + ".good", path + ".g"); Deno.renameSync(path + ".g", path);
}`;

/** Flips a folder between itself and a link to the folder of secrets. */
const FLIP_FOLDER = `
const [path, secret] = Deno.args;
for (;;) {
  Deno.renameSync(path, path + ".away"); Deno.symlinkSync(secret, path);
  Deno.removeSync(path); Deno.renameSync(path + ".away", path);
}`;

function flip(script: string, ...args: string[]): Disposable {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", "--ext=js", script, ...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return { [Symbol.dispose]: () => child.kill("SIGKILL") };
}

interface Tally {
  honest: number;
  refused: number;
  wrong: number;
}

/** Longest that the flipping may take to begin, milliseconds. */
const PATIENCE_MS = 600_000;

/** Reads for `ms`, and on until a flip was met as often as asked, so that the race was one. */
async function tally(
  ms: number,
  read: () => Promise<{ content: string }>,
  { met }: { readonly met: (counts: Tally) => boolean },
): Promise<Tally> {
  const counts: Tally = { honest: 0, refused: 0, wrong: 0 };
  const began = performance.now();
  const goesOn = (): boolean => {
    const spent = performance.now() - began;
    return spent < ms || (!met(counts) && spent < PATIENCE_MS);
  };
  while (goesOn()) {
    try {
      const { content } = await read();
      if (content.includes("TOPSECRET")) counts.wrong++;
      else if (content.includes("honest")) counts.honest++;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      counts.refused++;
    }
  }
  return counts;
}

Deno.test("mallory flips a file between check and open for two seconds: not one wrong read", async () => {
  using rig = makeRig();
  Deno.writeTextFileSync(`${rig.root}/secret`, "TOPSECRET");
  rig.put("f", "honest");
  using _mallory = flip(FLIP_FILE, `${rig.desk}/f`, `${rig.root}/secret`);
  const reads = await tally(1_400, () => rig.call("file_read", { path: "desk/f" }), {
    met: ({ refused }) => refused > 0,
  });
  const finds = await tally(600, () => rig.call("file_search", { query: "TOPSECRET", glob: "f" }), {
    met: () => true,
  });
  equal(reads.wrong + finds.wrong, 0);
  ok(reads.refused > 0, JSON.stringify(reads));
});

/** The real program, walled in as the kernel walls it in, at the other end of a port. */
async function walledHost(root: string, bundle: string): Promise<{
  ask(op: string, body: unknown): Promise<HostCallAnswer>;
  close(): Promise<void>;
}> {
  const deno = Deno.execPath();
  const binds = ["/usr", "/lib", "/lib64", "/bin"].flatMap((at) => ["--ro-bind-try", at, at]);
  const child = new Deno.Command("bwrap", {
    args: [
      ...["--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"],
      ...binds,
      ...["--ro-bind", deno, "/deno", "--ro-bind", bundle, "/boot.js"],
      ...["--ro-bind", `${root}/desk`, "/m/desk", "--bind", `${root}/content`, "/content"],
      ...["--bind", `${root}/scratch`, "/scratch", "--tmpfs", "/cache"],
      ...["/deno", "run", "--no-prompt", "--no-config", "--no-remote", "--no-npm"],
      ...["--allow-read=/m,/content,/scratch", "--allow-write=/content,/scratch", "/boot.js"],
    ],
    clearEnv: true,
    env: { DENO_DIR: "/cache", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const port = makePort({
    write: (bytes) => void writer.write(bytes.slice()),
    handler: { ask: () => Promise.reject(new Fault("badFrame", "Cannot ask")), tell(): void {} },
  });
  const pump = (async () => {
    for await (const chunk of child.stdout) port.feed(chunk);
  })();
  const ask = async (op: string, body: unknown): Promise<HostCallAnswer> =>
    await port.ask(op, body as Json) as unknown as HostCallAnswer;
  await ask("setup", {
    mounts: [{
      name: "desk",
      root: "/m/desk",
      mode: "stage",
      colour: "YELLOW",
      label: "internal",
      marks: [],
    }],
    content: "/content",
    scratch: "/scratch",
    never: [],
    overlay: [],
    scratchQuota: 1_000,
  });
  return {
    ask,
    async close(): Promise<void> {
      await writer.close();
      await pump;
      await child.status;
      port.close("test ended");
    },
  };
}

function hasBwrap(): boolean {
  try {
    const args = ["--unshare-all", "--ro-bind", "/", "/", "true"];
    return new Deno.Command("bwrap", { args, stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name: "mallory flips a folder under the real host's feet: the namespace holds what checks cannot",
  ignore: Deno.build.os !== "linux" || (!hasBwrap() && Deno.env.get("CI") !== "true"),
  async fn(): Promise<void> {
    using rig = makeRig();
    const bundle = `${rig.root}/toolhost.js`;
    const main = new URL("./main.ts", import.meta.url).pathname;
    const built = new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "-o", bundle, main],
    }).outputSync();
    ok(built.success, new TextDecoder().decode(built.stderr));
    Deno.mkdirSync(`${rig.root}/outside`);
    Deno.writeTextFileSync(`${rig.root}/outside/f`, "TOPSECRET");
    rig.put("dir/f", "honest");
    const host = await walledHost(rig.root, bundle);
    let id = 0;
    const read = (path: string) => (): Promise<HostCallAnswer> =>
      host.ask("call", {
        id: `r${++id}`,
        tool: "file_read",
        args: { path },
        deadlineMs: 300_000,
        bytes: 1_000,
        key: "0",
        colour: "BLUE",
        label: "public",
      });
    equal((await read("desk/dir/f")()).content, "honest");
    {
      using _mallory = flip(FLIP_FOLDER, `${rig.desk}/dir`, `${rig.root}/outside`);
      const counts = await tally(2_000, read("desk/dir/f"), {
        met: ({ refused, honest }) => refused > 0 && honest > 0,
      });
      equal(counts.wrong, 0, JSON.stringify(counts));
      ok(counts.refused > 0 && counts.honest > 0, JSON.stringify(counts));
    }
    await host.close();
  },
});
