/** dave has Node and nothing else: he installs what a release is, and starts it. npm's registry must be reachable. */
import assert from "node:assert/strict";
import { ROOT } from "../../scripts/process.ts";
import { NPM_NAME, VERSION } from "../../launch/kernel/version.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

const NODE_ONLY =
  "node npm npx sh env basename head mkdir mv readlink tr cat bwrap setpriv prlimit nice ps"
    .split(" ");
/** What npm may know of this machine's network. */
const NETWORK = /^(?:npm_config_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|https?_proxy|no_proxy)$/i;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder of programs without Deno, to be the whole PATH. */
async function nodeOnly(folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  for (const name of NODE_ONLY) {
    const at = (Deno.env.get("PATH") ?? "").split(":").map((each) => `${each}/${name}`)
      .find((each) => exists(each));
    if (at !== undefined) await Deno.symlink(at, `${folder}/${name}`);
  }
  return folder;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function release(kind: "npm" | "tarball", out: string): Promise<string> {
  const built = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "scripts/release/main.ts", `--out=${out}`, kind],
    cwd: ROOT,
  }).output();
  assert(built.success, new TextDecoder().decode(built.stderr));
  return new TextDecoder().decode(built.stdout).split("\n")[0] ?? "";
}

function caller(machine: Machine, path: string): (line: readonly string[]) => Promise<Ended> {
  const network = Object.entries(Deno.env.toObject()).filter(([name]) => NETWORK.test(name));
  const home = `${machine.dir}/dave`;
  return async ([program = "", ...args]) => {
    const done = await new Deno.Command(program, {
      args,
      cwd: machine.dir,
      clearEnv: true,
      env: {
        ...Object.fromEntries(network),
        ...{
          HOME: home,
          PATH: path,
          npm_config_prefix: `${home}/npm`,
          npm_config_cache: `${home}/kept`,
        },
      },
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    return { code: done.code, out: text.decode(done.stdout), err: text.decode(done.stderr) };
  };
}

Deno.test("dave installs the npm package with Node alone and plays the demo, also as another user who may write nothing of it (long)", async () => {
  if (!needs("npm")) return;
  await onMachine(async (machine) => {
    const tarball = await release("npm", `${machine.dir}/release`);
    const path = await nodeOnly(`${machine.dir}/path`);
    const call = caller(machine, path);
    await Deno.mkdir(`${machine.dir}/dave`);
    const installed = await call(["npm", "install", "--global", tarball]);
    assert.equal(installed.code, 0, installed.err);
    const remit = `${machine.dir}/dave/npm/bin/remit`;
    const tree = `${machine.dir}/dave/npm/lib/node_modules/${NPM_NAME}`;
    const first = await call([remit, "--version"]);
    assert.equal(first.out, `remit ${VERSION}\n`, first.err);
    const demo = await call([remit, "run", "--json"]);
    assert.equal(demo.code, 0, demo.err);
    assert.equal(JSON.parse(demo.out).status, "done");
    // What runs is the Deno that the package brought, and nothing was written into its folder.
    const { out } = await call(["cat", `${tree}/deno.lock`]);
    assert.equal(out, await Deno.readTextFile(`${ROOT}/deno.lock`));

    const once = await call(["npx", "--yes", `--package=${tarball}`, "remit", "--version"]);
    assert.equal(once.out, `remit ${VERSION}\n`, once.err);

    if (Deno.uid() !== 0 || !needs("setpriv")) return;
    const other = `${machine.dir}/other`;
    await Deno.mkdir(other);
    await Deno.chown(other, 65534, 65534);
    for (const each of [machine.dir, `${machine.dir}/dave`, machine.dir.replace(/\/[^/]+$/, "")]) {
      await Deno.chmod(each, 0o755);
    }
    const walled = await call(
      [
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--bind",
        "/tmp",
        "/tmp",
        "--ro-bind",
        tree,
        tree,
        "--setenv",
        "HOME",
        other,
        "--chdir",
        other,
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        remit,
        "run",
        "--json",
      ],
    );
    assert.equal(walled.code, 0, walled.err);
    assert.equal(JSON.parse(walled.out).status, "done");
  });
});

Deno.test("dave unpacks the tarball and starts it, and installs its command with deno install (long)", async () => {
  await onMachine(async (machine) => {
    const tarball = await release("tarball", `${machine.dir}/release`);
    const deno = Deno.execPath().replace(/\/[^/]+$/, "");
    const path = `${machine.dir}/dave/.deno/bin:${deno}:/usr/bin:/bin`;
    const call = caller(machine, path);
    await Deno.mkdir(`${machine.dir}/dave`);
    const unpacked = await call(["tar", "-xzf", tarball, "-C", machine.dir]);
    assert.equal(unpacked.code, 0, unpacked.err);
    const tree = `${machine.dir}/remit-${VERSION}`;
    const first = await call([`${tree}/bin/remit`, "--version"]);
    assert.equal(first.out, `remit ${VERSION}\n`, first.err);
    const permissions = ["read", "write", "env", "run", "net", "sys"].map((each) =>
      `--allow-${each}`
    );
    const installed = await call(
      [
        "deno",
        "install",
        "--global",
        "--name",
        "remit",
        "--config",
        `${tree}/deno.json`,
        ...permissions,
        `${tree}/cli/main.ts`,
      ],
    );
    assert.equal(installed.code, 0, installed.err);
    const second = await call([`${machine.dir}/dave/.deno/bin/remit`, "--version"]);
    assert.equal(second.out, `remit ${VERSION}\n`, second.err);
  });
});
