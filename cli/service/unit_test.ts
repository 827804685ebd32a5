import assert from "node:assert/strict";
import { join } from "node:path";
import { needs } from "../../tests/needs.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { systemdUnit, unitWord } from "./unit.ts";

async function verified(unit: string): Promise<{ readonly code: number; readonly said: string }> {
  const folder = Deno.makeTempDirSync({ prefix: "remit-unit-" });
  const file = join(folder, "remit.service");
  Deno.writeTextFileSync(file, unit);
  const done = await new Deno.Command("systemd-analyze", {
    args: ["verify", "--man=no", "--generators=no", file],
    env: { SYSTEMD_LOG_LEVEL: "warning" },
  }).output();
  Deno.removeSync(folder, { recursive: true });
  return { code: done.code, said: new TextDecoder().decode(done.stderr) };
}

for (const scope of ["user", "system"] as const) {
  Deno.test(`systemd-analyze takes the unit of remit serve: ${scope}`, async () => {
    if (!needs("systemd-analyze")) return;
    const powers = fakePowers({
      env: { PATH: "/usr/bin:/bin", XDG_STATE_HOME: '/tmp/a "b" 100% $c' },
    });
    const flags = scope === "system" ? ["--system"] : ["--state", "/tmp/a b$c 100%"];
    assert.equal(await runCommandLine(["serve", "unit", ...flags], powers), 0);
    const unit = powers.screen.outs.join("");
    assert.deepEqual(await verified(unit), { code: 0, said: "" });
    // What is wrong in a unit is seen: the check is none that passes everything.
    const broken = unit.replace("KillMode=mixed", "KillMode=sometimes\nNoSuchSetting=yes");
    assert.match((await verified(broken)).said, /KillMode|NoSuchSetting/);
    const absent = unit.replace("/bin/remit", "/bin/no-such-program");
    assert.notEqual((await verified(absent)).code, 0);
    Deno.removeSync(powers.root, { recursive: true });
  });
}

Deno.test("the unit leaves bubblewrap and V8 what they need, and waits longer than the drain", () => {
  for (const scope of ["user", "system"] as const) {
    const unit = systemdUnit({
      ...{ scope, program: "/opt/remit/bin/remit", args: [], environment: { PATH: "/bin" } },
      ...{ drainMs: 60_500, folders: ["/srv/a b"] },
    });
    for (
      const takes of [
        ...["RestrictNamespaces=", "MemoryDenyWriteExecute=", "ProtectKernelTunables="],
        ...["ProtectProc=", "SystemCallFilter=", "PrivateUsers=", "DynamicUser="],
      ]
    ) assert.ok(!unit.split("\n").some((line) => line.startsWith(takes)), takes);
    assert.match(unit, /^NoNewPrivileges=yes$/m);
    assert.match(unit, /^TimeoutStopSec=81$/m);
    assert.match(unit, /^Restart=on-failure$/m);
    assert.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    assert.equal(unit.includes('ReadWritePaths="/srv/a b"'), scope === "system");
  }
});

Deno.test("a word of a unit is one word: quotes, specifiers, variables, and no second line", () => {
  assert.equal(unitWord('a "b" \\ 50%'), '"a \\"b\\" \\\\ 50%%"');
  assert.equal(unitWord("$HOME", "exec"), '"$$HOME"');
  assert.throws(() => unitWord("a\nExecStartPre=/bin/evil"), /control characters/);
});

Deno.test("the container file names the versions and the address that the service has", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["serve", "container"], powers), 0);
  const text = powers.screen.outs.join("");
  const launcher = Deno.readTextFileSync(join(powers.environment.home, "bin", "remit"));
  const version = /^version=(.+)$/m.exec(launcher)?.[1] ?? "none";
  assert.ok(text.includes(`denoland/deno:bin-${version}`));
  assert.match(text, /^USER remit$/m);
  assert.match(text, /^EXPOSE 7433$/m);
  Deno.removeSync(powers.root, { recursive: true });
});
