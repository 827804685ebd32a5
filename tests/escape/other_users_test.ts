import assert from "node:assert/strict";
import { needs } from "../needs.ts";
import { besiege } from "../fake/siege.ts";

const CONNECT = `Deno.connect({ transport: "unix", path: Deno.args[0] })
  .then(() => console.log("CONNECTED"), (e) => console.log(e.name))`;

Deno.test("another user of the machine would have commanded the kernel over its socket", async () => {
  await besiege(async ({ config }) => {
    const modeOf = async (path: string): Promise<number> =>
      ((await Deno.stat(path)).mode ?? 0) & 0o777;
    assert.equal(await modeOf(config.runtime), 0o700);
    assert.equal(await modeOf(config.controlSocket), 0o600);
    assert.equal(await modeOf(`${config.dir}/receipt_key`), 0o600);
    if (Deno.uid() !== 0 || !needs("setpriv")) return;
    // As nobody, past the folder: the socket's own mode must hold too.
    const folder = config.runtime.slice(0, config.runtime.lastIndexOf("/"));
    for (const mode of [0o700, 0o755]) {
      await Deno.chmod(config.runtime, mode);
      await Deno.chmod(folder, mode);
      assert.equal(await connectAs(65_534, config.controlSocket), "PermissionDenied");
    }
  });
});

async function connectAs(uid: number, path: string): Promise<string> {
  // The executable and its cache must be readable to that user, whatever the test's own home is.
  const dir = await Deno.makeTempDir({ prefix: "remit-nobody-" });
  try {
    await Deno.copyFile(Deno.execPath(), `${dir}/deno`);
    for (const each of [dir, `${dir}/deno`]) await Deno.chmod(each, 0o755);
    await Deno.writeTextFile(`${dir}/connect.js`, CONNECT, { mode: 0o644 });
    const words = ["run", "--no-config", "--no-lock", "-A", `${dir}/connect.js`, path];
    const { stdout, stderr } = await new Deno.Command("setpriv", {
      args: [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", `${dir}/deno`, ...words],
      cwd: "/",
      clearEnv: true,
      env: { DENO_DIR: "/tmp/remit-nobody-cache", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}
