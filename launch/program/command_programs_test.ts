import assert from "node:assert/strict";
import { RemitConfig } from "../../contracts/policy/mod.ts";
import { CommandClass } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { findCommands } from "./command_programs_powers.ts";
import { mergeLayers } from "../../config/layers.ts";
import { parseConfigText } from "../../config/text.ts";

const COMMANDS = `version: 1
commands:
  git: { program: git, args: [status, log], timeoutMs: 5000 }
  py: { program: /usr/bin/python3, env: [PYTHONHASHSEED], mounts: all }
`;

Deno.test("a granted program is known by its real path and its bytes", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-command-" }));
  try {
    await Deno.writeTextFile(`${folder}/real`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/plain`, "no program\n", { mode: 0o644 });
    await Deno.symlink(`${folder}/real`, `${folder}/alias`);
    const { commands, missing } = findCommands({
      alias: CommandClass.parse({ program: "alias", args: ["x"] }),
      plain: CommandClass.parse({ program: `${folder}/plain` }),
      none: CommandClass.parse({ program: "no-such-program-anywhere" }),
    }, `relative:${folder}`);
    assert.deepEqual(commands, [{
      ...{ name: "alias", program: `${folder}/real`, args: ["x"], env: [], mounts: "cwd" },
      ...{ sha256: sha256Hex("#!/bin/sh\n"), timeoutMs: 60_000 },
    }]);
    assert.deepEqual(missing.map((line) => line.split(":")[0]), ["plain", "none"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a class goes on after a call, or has a terminal, only where it says so; its time is its own", () => {
  const sessions = (more: object): unknown => {
    const parsed = CommandClass.parse({ program: "/bin/sh", ...more });
    return findCommands({ sh: parsed }, "").commands[0]?.session;
  };
  assert.equal(sessions({}), undefined);
  assert.equal(sessions({ session: false, sessionMs: 5_000 }), undefined);
  assert.deepEqual(sessions({ session: true }), { ms: 3_600_000, pty: false });
  assert.deepEqual(sessions({ pty: true }), { ms: 3_600_000, pty: true });
  // Who limits runs, limits sessions, unless it says otherwise.
  assert.deepEqual(sessions({ session: true, timeoutMs: 5_000 }), { ms: 5_000, pty: false });
  assert.deepEqual(sessions({ session: true, timeoutMs: 5_000, sessionMs: 9_000 }), {
    ...{ ms: 9_000, pty: false },
  });
});

Deno.test("commands come from trusted files only; one that is not trusted is told of", () => {
  const file = parseConfigText("remit.yaml", COMMANDS);
  const trusted = mergeLayers([{ file, trusted: true }]);
  assert.deepEqual(Object.keys(trusted.commands), ["git", "py"]);
  const hostile = mergeLayers([{ file, trusted: false }]);
  assert.deepEqual(hostile.commands, {});
  assert.match(hostile.notes.join(), /remit\.yaml:2: "commands" could widen/);
});

Deno.test("what a class cannot say is an error: network, unknown keys, loader variables, names", () => {
  const refused = [
    { git: { program: "git", network: true } },
    { git: { program: "git", writes: "direct" } },
    { git: { program: "git", shell: true } },
    { git: { program: "git; id" } },
    { git: { program: "../git" } },
    { git: { program: "/usr/bin/git\n" } },
    { git: { program: "git", env: ["LD_PRELOAD"] } },
    { git: { program: "git", env: ["A=B"] } },
    { git: { program: "git", args: [] } },
    { "Git Log": { program: "git" } },
    { git: {} },
  ];
  for (const commands of refused) {
    const { success } = RemitConfig.safeParse({ version: 1, commands });
    assert.equal(success, false, JSON.stringify(commands));
  }
});
