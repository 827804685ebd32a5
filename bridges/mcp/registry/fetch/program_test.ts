import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../../contracts/base/mod.ts";
import { needs } from "../../../../tests/needs.ts";
import { type FreshCommand, freshCommand } from "../../../../cli/_fixture/mcp_command.ts";
import { launchOf } from "../launch.ts";
import { type ProvidedLaunch, provideLaunch } from "./provide.ts";
import { registryOf } from "../../../../cli/mcp/work.ts";

const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  return error.code === code;
};
const provide = (command: FreshCommand, ...words: string[]): Promise<ProvidedLaunch> =>
  provideLaunch(registryOf(command), launchOf(words));

function file(path: string, text: string, mode = 0o644): string {
  Deno.mkdirSync(join(path, ".."), { recursive: true });
  Deno.writeTextFileSync(path, text);
  Deno.chmodSync(path, mode);
  return path;
}

Deno.test("a script of an interpreter: real paths, the project that holds it, no more of a home", async () => {
  if (!needs("node")) return;
  const command = freshCommand();
  const { root } = command.powers;
  const project = join(root, "project");
  file(join(project, "package.json"), "{}");
  const script = file(join(project, "build/index.js"), "");
  Deno.symlinkSync(script, join(root, "link.js"));
  for (const said of [script, "~/project/build/index.js", "../link.js"]) {
    const { launch, notes } = await provide(command, "node", "--no-warnings", said, "-x", "y");
    assert.ok(launch.kind === "program");
    assert.deepEqual(launch.args, ["--no-warnings", script, "-x", "y"]);
    assert.deepEqual(launch.folders, [project]);
    assert.equal(launch.program, Deno.realPathSync(launch.program));
    assert.match(launch.sha256, /^[0-9a-f]{64}$/);
    assert.match(notes.join(), /not pinned/);
  }
  // Alone in a home it is the file, and nothing beside it.
  const alone = file(join(root, "alone.js"), "");
  const { launch } = await provide(command, "node", alone);
  assert.deepEqual(launch.kind === "program" && launch.folders, [alone]);
});

Deno.test("a program that is a text is what reads it; a program of the machine's kind is itself", async () => {
  if (!needs("node")) return;
  const command = freshCommand();
  const { root } = command.powers;
  const tool = file(join(root, "tools/serve"), "#!/usr/bin/env node\n", 0o755);
  const { launch } = await provide(command, tool, "a");
  assert.ok(launch.kind === "program");
  assert.match(launch.program, /node[^/]*$/);
  assert.deepEqual([launch.args, launch.folders], [[tool, "a"], [join(root, "tools")]]);
  const binary = join(root, "opt/server");
  Deno.mkdirSync(join(root, "opt"));
  Deno.copyFileSync("/bin/true", binary);
  Deno.chmodSync(binary, 0o755);
  const own = await provide(command, binary);
  assert.deepEqual(own.launch.kind === "program" && [own.launch.program, own.launch.folders], [
    ...[binary, [join(root, "opt")]],
  ]);
  // Among other programs it is bound alone.
  const shared = join(root, "bin/server");
  Deno.mkdirSync(join(root, "bin"));
  Deno.copyFileSync("/bin/true", shared);
  Deno.chmodSync(shared, 0o755);
  const among = await provide(command, shared);
  assert.deepEqual(among.launch.kind === "program" && among.launch.folders, [shared]);
});

Deno.test("a Python of a virtual environment finds its packages", async () => {
  if (!needs("python3")) return;
  const command = freshCommand();
  const { root } = command.powers;
  const made = await new Deno.Command("python3", {
    args: ["-m", "venv", "--without-pip", join(root, "venv")],
  }).output();
  assert.ok(made.success);
  const script = file(join(root, "app/server.py"), "");
  const { launch } = await provide(command, join(root, "venv/bin/python"), script);
  assert.ok(launch.kind === "program" && launch.env !== undefined);
  assert.match(launch.env["PYTHONPATH"] ?? "", /\/venv\/lib\/python3\.[0-9]+\/site-packages$/);
  assert.ok(
    launch.folders.includes(join(root, "venv")) && launch.folders.includes(join(root, "app")),
  );
  assert.ok(!launch.program.startsWith(root));
  const module = await provide(command, "python3", "-m", "http.server");
  assert.deepEqual(module.launch.kind === "program" && module.launch.args, ["-m", "http.server"]);
});

Deno.test("what cannot be contained is refused with the reason", async () => {
  if (!needs("node")) return;
  const command = freshCommand();
  const cases: readonly (readonly [string[], FaultCode, RegExp])[] = [
    [["no-such-program"], "notFound", /not in PATH/],
    [["/etc/passwd"], "notFound", /cannot be run/],
    [["node", "-e", "1"], "refused", /code stands in its arguments/],
    [["node", "gone.js"], "refused", /there is no file/],
    [["node"], "refused", /no file/],
    [["docker", "run", "x"], "refused", /container/],
    [["node", file(join(command.powers.root, "a,b/x.js"), "")], "refused", /comma/],
  ];
  for (const [words, code, said] of cases) {
    await assert.rejects(provide(command, ...words), fault(code, said), words.join(" "));
  }
});

Deno.test("an address is launched as it is", async () => {
  const command = freshCommand();
  assert.deepEqual((await provide(command, "https://x.org/mcp")).launch, {
    ...{ kind: "http", url: "https://x.org/mcp" },
  });
});
