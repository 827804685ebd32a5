/** bob links `remit` into his own bin folder and calls it from wherever he is. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { MOVES_THE_TRIP } from "../fake/scenes.ts";

const LAUNCHER = new URL("../../bin/remit", import.meta.url).pathname;

Deno.test("bob calls bin/remit through two symlinks from another folder, and his paths are his", async () => {
  await onMachine(async (machine) => {
    await machine.write("deep/er/plans/trip.txt", "Leave on Monday.\n");
    await machine.write("deep/er/model.yaml", MOVES_THE_TRIP);
    await Deno.mkdir(`${machine.dir}/bin`);
    await Deno.symlink(LAUNCHER, `${machine.dir}/bin/second`);
    await Deno.symlink("second", `${machine.dir}/bin/remit`);
    const deno = Deno.execPath().slice(0, Deno.execPath().lastIndexOf("/"));
    const call = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
      const done = await new Deno.Command(`${machine.dir}/bin/remit`, {
        args: [...args, "--state", machine.state],
        cwd: `${machine.dir}/deep/er`,
        clearEnv: true,
        // An outer task's folder must not count: bob is where he is.
        env: { ...machine.env, INIT_CWD: "/", PATH: `${deno}:${machine.env["PATH"]}` },
        stdin: "null",
      }).output();
      const text = new TextDecoder();
      return { code: done.code, out: text.decode(done.stdout), err: text.decode(done.stderr) };
    };
    const version = await call("--version");
    assert.match(version.out, /^remit \d/, version.err);
    for (const short of ["--version", "-V"]) {
      const env = { ...machine.env, PATH: `${deno}:${machine.env["PATH"]}` };
      const alone = await new Deno.Command(`${machine.dir}/bin/remit`, {
        ...{ args: [short], clearEnv: true, env, stdin: "null" },
      }).output();
      assert.equal(new TextDecoder().decode(alone.stdout), version.out, "by its own short way");
    }
    const done = await call(
      "run",
      "-p",
      "Move the trip",
      "--mount",
      "plans=plans",
      "--model",
      "scripted:model.yaml",
      "--json",
    );
    assert.equal(done.code, 75, done.err);
    assert.deepEqual(readRun(done.out).changes.map(({ path }) => path), ["plans/trip.txt"]);
    const waits = await call("questions");
    assert(
      waits.err.includes(`${machine.dir}/bin/remit answer`),
      "it names itself as bob called it",
    );
  });
});

/** What the launcher needs of a machine beside Deno. */
const TOOLS = ["basename", "head", "mkdir", "mv", "readlink", "sh", "tr"];
const DENO = Deno.realPathSync(Deno.execPath());

/** A folder of programs without Deno, to be the whole PATH; `scripts` by their name. */
async function programs(
  folder: string,
  scripts: Readonly<Record<string, string>>,
): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  for (const tool of TOOLS) {
    const at = ["/usr/bin", "/bin"].map((each) => `${each}/${tool}`).find((each) => {
      try {
        return Deno.statSync(each).isFile;
      } catch {
        return false;
      }
    });
    if (at !== undefined) await Deno.symlink(at, `${folder}/${tool}`);
  }
  for (const [name, text] of Object.entries(scripts)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return folder;
}

/** Starts the service through the launcher, sends each signal to what was started, and gives what became of it. */
async function served(
  machine: Machine,
  env: Readonly<Record<string, string>>,
  signals: readonly Deno.Signal[],
): Promise<string> {
  const child = new Deno.Command(LAUNCHER, {
    args: ["serve", "127.0.0.1:0", "--json", "--state", machine.state],
    cwd: machine.dir,
    clearEnv: true,
    env: { ...machine.env, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let said = "";
  const heard = Promise.withResolvers<void>();
  const errors = (async (): Promise<void> => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += text;
      if (/remit\.yaml/.test(said)) heard.resolve();
    }
  })();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assert(value !== undefined, said);
  const { url } = JSON.parse(new TextDecoder().decode(value));
  const healthz = (): Promise<number> =>
    fetch(`${url}/healthz`).then((r) => r.text().then(() => r.status));
  assert.equal(await healthz(), 200);
  assert.equal(await Deno.readLink(`/proc/${child.pid}/exe`).then(baseName), "deno");
  for (const signal of signals) {
    child.kill(signal);
    if (signal === "SIGHUP") await heard.promise;
  }
  const { code } = await child.status;
  await Promise.all([errors, reader.cancel()]);
  assert.equal(code, 0, said);
  await assert.rejects(healthz, "nobody listens any more");
  return said;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

Deno.test("a signal to what bob started is the service's own, with Deno on the PATH, as a script, kept by npx, or fetched by it", async () => {
  await onMachine(async (machine) => {
    const { dir } = machine;
    // As a package manager installs it: a program that starts Deno, and waits.
    const script = await programs(`${dir}/script`, { deno: `"${DENO}" "$@"\nexit $?` });
    await served(machine, { PATH: script }, ["SIGHUP", "SIGTERM"]);
    const plain = await programs(`${dir}/plain`, {});
    await Deno.symlink(DENO, `${plain}/deno`);
    await served(machine, { PATH: plain }, ["SIGINT"]);
    // Like npx: a program that starts Deno, and waits; without a version of Deno that could be asked.
    const npx = await programs(`${dir}/npx`, {
      npx: `[ "$1 $2" = "-y deno@2.9.6" ] || exit 9\nshift 2\n"${DENO}" "$@"\nexit $?`,
      deno: "echo deno 1.0.0",
    });
    await served(machine, { PATH: npx }, ["SIGTERM"]);
    // npx is not asked where it keeps what it fetched once.
    const kept = await programs(`${dir}/kept`, { npx: "exit 9" });
    const [, folder] = /^npx_folder=(\w+)$/m.exec(await Deno.readTextFile(LAUNCHER)) ?? [];
    const digest = await crypto.subtle.digest("SHA-512", new TextEncoder().encode("deno@2.9.6"));
    assert.equal(folder, new Uint8Array(digest).toHex().slice(0, 16));
    const at = `${dir}/npm/_npx/${folder}/node_modules/deno`;
    await Deno.mkdir(at, { recursive: true });
    await Deno.copyFile(DENO, `${at}/deno`);
    await Deno.chmod(`${at}/deno`, 0o755);
    await served(machine, { PATH: kept, npm_config_cache: `${dir}/npm` }, ["SIGTERM"]);
    // Another version, or somebody else's folder, is nothing: npx is asked.
    await Deno.remove(`${at}/deno`);
    await Deno.writeTextFile(`${at}/deno`, "#!/bin/sh\necho deno 2.9.5\n", { mode: 0o755 });
    const refused = await new Deno.Command(LAUNCHER, {
      args: ["--version"],
      clearEnv: true,
      env: { ...machine.env, PATH: kept, npm_config_cache: `${dir}/npm` },
    }).output();
    assert.equal(refused.code, 1);
    assert.match(new TextDecoder().decode(refused.stderr), /NODE_EXTRA_CA_CERTS=FILE\.pem/);
  });
});

Deno.test("a second start runs no program but Deno, and asks anew when Deno or deno.lock was replaced", async () => {
  await onMachine(async ({ dir, env }) => {
    // A copy of the launcher over a command line of one line: what is asked for is seen in a file.
    const home = `${dir}/home`;
    const asked = `${dir}/asked`;
    await Deno.mkdir(`${home}/bin`, { recursive: true });
    await Deno.copyFile(LAUNCHER, `${home}/bin/remit`);
    await Deno.chmod(`${home}/bin/remit`, 0o755);
    await Deno.writeTextFile(`${home}/deno.lock`, "{}");
    const fake = `echo "$@" >>"${asked}"; [ "$1" != --version ] || echo deno 2.9.6 fake`;
    const path = await programs(`${dir}/path`, {});
    const replace = async (): Promise<void> => {
      await Deno.remove(`${path}/deno`).catch(() => undefined);
      const text = `#!/bin/sh\n${fake}\n[ "$1" != eval ] || echo "${path}/deno"\n`;
      await Deno.writeTextFile(`${path}/deno`, text, { mode: 0o755 });
    };
    const start = async (): Promise<readonly string[]> => {
      await Deno.remove(asked).catch(() => undefined);
      const { success } = await new Deno.Command(`${home}/bin/remit`, {
        ...{ args: ["tasks"], clearEnv: true, env: { ...env, PATH: path } },
      }).output();
      assert(success);
      return (await Deno.readTextFile(asked)).split("\n").map((line) => line.split(" ")[0] ?? "");
    };
    const whole = ["--version", "eval", "cache", "run", ""];
    await replace();
    assert.deepEqual(await start(), whole);
    assert.deepEqual(await start(), ["run", ""]);
    await replace();
    assert.deepEqual(await start(), whole);
    assert.deepEqual(await start(), ["run", ""]);
    await Deno.writeTextFile(`${home}/deno.lock`, "{} ");
    assert.deepEqual(await start(), whole);
    assert.deepEqual(await start(), ["run", ""]);
  });
});
