import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../../contracts/base/mod.ts";
import { needs } from "../../../../tests/needs.ts";
import { type FreshCommand, freshCommand } from "../../../../cli/_fixture/mcp_command.ts";
import { fetchPython, runWithUv } from "./python.ts";
import type { McpWish } from "../launch.ts";
import { registryOf } from "../../../../cli/mcp/work.ts";

/** Writes a wheel, or a package that would have to be built: NAME VERSION KIND FOLDER [REQUIRES]. */
const MAKE = `
import sys, zipfile, tarfile, io
name, version, kind, folder, requires = (sys.argv[1:] + [""])[:5]
meta = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n" + (f"Requires-Dist: {requires}\\n" if requires else "")
if kind == "wheel":
  with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as z:
    code = "import say_lib\\ndef main(): print(say_lib.WORD)\\n" if requires else "WORD = 'from the library'\\ndef main(): print('alone')\\n"
    z.writestr(f"{name}.py", code)
    info = f"{name}-{version}.dist-info"
    z.writestr(f"{info}/METADATA", meta)
    z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr(f"{info}/entry_points.txt", f"[console_scripts]\\n{name.replace('_', '-')} = {name}:main\\n")
    z.writestr(f"{info}/RECORD", "")
else:
  with tarfile.open(f"{folder}/{name}-{version}.tar.gz", "w:gz") as t:
    code = f"open('{folder}/ran', 'w')\\nfrom setuptools import setup\\nsetup(name='{name}', version='{version}')\\n".encode()
    for path, data in (("setup.py", code), ("PKG-INFO", meta.encode())):
      entry = tarfile.TarInfo(f"{name}-{version}/{path}"); entry.size = len(data); t.addfile(entry, io.BytesIO(data))
`;

async function make(folder: string, ...words: string[]): Promise<void> {
  const [name = "", version = "", kind = "", requires] = words;
  const { success } = await new Deno.Command("python3", {
    args: ["-c", MAKE, name, version, kind, folder, ...(requires === undefined ? [] : [requires])],
  }).output();
  assert.ok(success);
}

async function withIndex(
  f: (command: FreshCommand, folder: string) => Promise<void>,
): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-wheels-" }));
  const command = freshCommand({ env: { PIP_FIND_LINKS: folder, PIP_NO_INDEX: "1" } });
  try {
    await f(command, folder);
    assert.deepEqual(
      command.powers.disk.list(command.places.mcpTrees).filter((n) => n.startsWith(".")),
      [],
    );
  } finally {
    command.powers.mcpStore.drop(join(command.places.state, "mcp"));
    Deno.removeSync(folder, { recursive: true });
  }
}

const wish = (name: string, more: object = {}): Extract<McpWish, { kind: "python" }> => ({
  ...{ kind: "python", package: name, wanted: "", program: name.replace("_", "-"), args: [] },
  ...more,
});
const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  return error.code === code;
};

Deno.test("alice fetches a Python server: wheels only, pinned, and it runs from its tree", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  await withIndex(async (command, folder) => {
    await make(folder, "say_lib", "1.5", "wheel");
    await make(folder, "say_tool", "2.0", "wheel", "say_lib>=1");
    const { launch, packages } = await fetchPython(
      registryOf(command),
      wish("say_tool", { args: ["x y"] }),
    );
    assert.ok(launch.kind === "program" && launch.tree !== undefined);
    assert.deepEqual(packages.map(({ name, version }) => `${name} ${version}`), [
      ...["say_lib 1.5", "say_tool 2.0"],
    ]);
    assert.deepEqual(launch.args, ["/tree/lib/bin/say-tool", "x y"]);
    const end = await command.powers.mcpStore.step({
      program: launch.program,
      args: launch.args,
      env: launch.env ?? {},
      reads: [
        ...["/usr", "/bin", ...launch.folders].map((path) => ({ from: path, at: path })),
        { from: join(command.places.mcpTrees, launch.tree.id), at: "/tree" },
      ],
      net: false,
      deadlineMs: 600_000,
    });
    assert.equal(end.out, "from the library\n", end.said);
    // Compiled once, here: a start compiles nothing.
    const cached = command.powers.disk.list(
      join(command.places.mcpTrees, launch.tree.id, "lib/__pycache__"),
    );
    assert.deepEqual(cached.map((name) => name.replace(/\..*/, "")), ["say_lib", "say_tool"]);
    const again = await fetchPython(registryOf(command), wish("say_tool", { wanted: "2.0" }));
    assert.ok(again.launch.kind === "program");
    assert.deepEqual(again.launch.tree, launch.tree);
  });
});

Deno.test("a script is run with the packages that it names, a project from what uv sync made, and no other Python", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  await withIndex(async (command, folder) => {
    await make(folder, "say_lib", "1.5", "wheel");
    await make(folder, "say_lib", "1.4", "wheel");
    const project = join(folder, "project");
    Deno.mkdirSync(project);
    const script = join(project, "tool.py");
    const run = (more: object) =>
      runWithUv(registryOf(command), {
        ...{ kind: "uvRun", script: true, args: ["tool.py", "x"] },
        ...more,
      });
    const block = (list: string): string =>
      `# /// script\n# requires-python = ">=3"\n# dependencies = [\n#   ${list},\n# ]\n# ///\nimport say_lib\n`;
    Deno.writeTextFileSync(script, block('"say_lib<2"'));
    const limits = join(folder, "limits.txt");
    Deno.writeTextFileSync(limits, "say_lib==1.4\n");
    const { launch, packages } = await run({ folder: project, constraints: [limits] });
    assert.ok(launch.kind === "program" && launch.tree !== undefined);
    assert.deepEqual(launch.args, [script, "x"]);
    assert.ok(launch.folders.includes(project));
    assert.deepEqual(packages.map(({ name, version }) => `${name} ${version}`), ["say_lib 1.4"]);
    for (const bad of ['"git+https://x/y"', '"--index-url=http://x"', '"./here"']) {
      Deno.writeTextFileSync(script, block(bad));
      await assert.rejects(run({ folder: project }), fault("refused", /no package of an index/));
    }
    Deno.writeTextFileSync(script, "print(1)\n");
    const plain = await run({ folder: project });
    assert.ok(plain.launch.kind === "program" && plain.launch.tree === undefined);
    await assert.rejects(
      run({ folder: project, script: false, args: ["server"] }),
      fault("refused", /run "uv sync" in .*project first/),
    );
    await assert.rejects(
      fetchPython(registryOf(command), wish("say_lib", { python: "python3.999" })),
      fault("refused", /this machine has no python3.999/),
    );
  });
});

Deno.test("a package that would have to be built is refused, and its code does not run", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  await withIndex(async (command, folder) => {
    await make(folder, "built", "1.0", "source");
    await assert.rejects(
      fetchPython(registryOf(command), wish("built")),
      fault("refused", /no wheel/),
    );
    assert.throws(() => Deno.statSync(join(folder, "ran")), Deno.errors.NotFound);
  });
});

Deno.test("another version, another program, and a package that is not there are plain sentences", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  await withIndex(async (command, folder) => {
    await make(folder, "say_lib", "1.5", "wheel");
    await assert.rejects(
      fetchPython(registryOf(command), wish("say_lib", { wanted: "9.9" })),
      fault("notFound", /no such version/),
    );
    await assert.rejects(
      fetchPython(registryOf(command), wish("say_lib", { program: "other" })),
      fault("refused", /no program "other"; uvx --from say_lib NAME, of say-lib/),
    );
    await assert.rejects(
      fetchPython(registryOf(command), wish("nothing")),
      fault("refused", /no wheel/),
    );
  });
});
