import assert from "node:assert/strict";
import { NPM_NAME, VERSION } from "../../launch/kernel/version.ts";
import { COMMANDS } from "../../cli/arguments/command_table.ts";
import { ROOT } from "../process.ts";
import { manPage } from "./man.ts";
import { debianControl, DENO_VERSION, isCarried, packageJson, releaseNotes } from "./package.ts";

Deno.test("a release carries sources, examples and documents, and no test, fixture or script", () => {
  for (
    const path of [
      "bin/remit",
      "cli/main.ts",
      "deno.json",
      "deno.lock",
      "examples/desk/keys.env",
      "docs/mcp.md",
      "models/weights/pull/models.yaml",
      "tools-wasm/exec/tool.yaml",
      "LICENSE",
    ]
  ) assert(isCarried(path), path);
  for (
    const path of [
      "tests/needs.ts",
      "cli/arguments/commands_test.ts",
      "cli/_fixture/world.ts",
      "scripts/ok.ts",
      "bench/main.ts",
      ".ci/run",
      ".github/workflows/ci.yml",
      "Containerfile",
    ]
  ) assert(!isCarried(path), path);
});

Deno.test("the package names the version of the program and exactly the Deno that its launcher and the checks name", async () => {
  const json = JSON.parse(packageJson());
  assert.equal(json.version, VERSION);
  assert.equal(json.name, NPM_NAME);
  assert.deepEqual(json.dependencies, { deno: DENO_VERSION });
  assert.match(VERSION, /^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$/);
  assert.match(
    await Deno.readTextFile(`${ROOT}/bin/remit`),
    new RegExp(`^version=${DENO_VERSION}$`, "m"),
  );
  assert.match(
    await Deno.readTextFile(`${ROOT}/.ci/run`),
    new RegExp(`^DENO_VERSION=${DENO_VERSION}$`, "m"),
  );
  assert.match(
    await Deno.readTextFile(`${ROOT}/Containerfile`),
    new RegExp(`deno:bin-${DENO_VERSION} `),
  );
  assert.match(debianControl(12), /^Installed-Size: 12$/m);
});

Deno.test("release notes are the section of that version, else what is unreleased", () => {
  const log = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.0 - 2026-01-02\n\n- Old.\n";
  assert.equal(releaseNotes(log, "1.2.0"), "# Remit 1.2.0\n\n- Old.\n");
  assert.equal(releaseNotes(log, "1.3.0"), "# Remit 1.3.0\n\n- New.\n");
  assert.throws(() => releaseNotes("# Changelog\n", "1.0.0"), /CHANGELOG has no 1\.0\.0/);
});

Deno.test("the man page names every command and flag in requests that every man knows", () => {
  const page = manPage("2026-01-31");
  for (const { name, flags } of COMMANDS) {
    assert(page.includes(`.SS remit ${name}`.trim().replaceAll("-", "\\-")), name);
    for (const flag of flags) assert(page.includes(`\\-\\-${flag.name.replaceAll("-", "\\-")}`));
  }
  assert.doesNotMatch(page, /^\.(?!TH|SH|SS|TP|PP|B |I |nf|fi|B$)/m);
});
