/** The release workflow, its steps run here one by one, as the file says them: what leaves the machine is written down. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { VERSION } from "../../launch/kernel/version.ts";
import { ROOT } from "../../scripts/process.ts";
import { onMachine } from "../fake/remit.ts";

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** Programs of the step that reach beyond this machine, or take an hour: each writes its words down. */
const WRITTEN_DOWN = ["docker", "gh", "npm"];
/** The whole check has its own job, and would run this test again. */
const CHECK = ".ci/run";

async function filesOf(pattern: string): Promise<readonly string[]> {
  const [, folder = "", ending = ""] = /^(.*)\/\*(\.[\w.]+)$/.exec(pattern.trim()) ?? [];
  assert.ok(ending !== "", `a pattern of one folder: ${pattern}`);
  const names = await Array.fromAsync(Deno.readDir(`${ROOT}/${folder}`));
  return names.map(({ name }) => name).filter((name) => name.endsWith(ending));
}

Deno.test("each step of the release workflow runs, and what it attests, attaches and publishes is there (long)", async () => {
  // TRUST: a file of this repository.
  const workflow = parse(await Deno.readTextFile(`${ROOT}/.github/workflows/release.yml`)) as {
    readonly jobs: { readonly build: { readonly steps: readonly Step[] } };
  };
  await onMachine(async ({ dir }) => {
    const programs = `${dir}/programs`;
    const told = `${dir}/told`;
    await Deno.mkdir(programs);
    await Deno.writeTextFile(told, "");
    const program = (name: string, text: string): Promise<void> =>
      Deno.writeTextFile(`${programs}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    for (const name of WRITTEN_DOWN) {
      await program(name, `{ echo ${name}; printf '%s\\n' "$@"; echo; } >>"${told}"`);
    }
    // The Deno of this run stands for the one that npx fetches, and no other version does.
    const version = `deno@${Deno.version.deno}`;
    await program(
      "npx",
      `[ "$1 $2" = "-y ${version}" ] || { echo "npx $*" >&2; exit 9; }\nshift 2\nexec "${Deno.execPath()}" "$@"`,
    );
    const run = async (text: string, tag: string): Promise<{ code: number; said: string }> => {
      const done = await new Deno.Command("bash", {
        args: ["-e", "-o", "pipefail", "-c", text],
        cwd: ROOT,
        env: { PATH: `${programs}:${Deno.env.get("PATH")}`, GITHUB_REF_NAME: tag },
        stdin: "null",
      }).output();
      const decoder = new TextDecoder();
      return { code: done.code, said: decoder.decode(done.stdout) + decoder.decode(done.stderr) };
    };

    const steps = workflow.jobs.build.steps;
    const [check] = steps.filter(({ run: text }) => text === CHECK);
    assert.ok(check !== undefined, "all checks run before anything is built");
    assert.notEqual(((await Deno.stat(`${ROOT}/${CHECK}`)).mode ?? 0) & 0o100, 0, "it can be run");
    for (const { name = "", run: text, uses = "", with: options = {} } of steps) {
      if (text !== undefined && text !== CHECK) {
        // What GitHub itself puts in: none of it may be a word that a shell reads.
        assert.doesNotMatch(text, /\$\{\{/, name);
        const { code, said } = await run(text, `v${VERSION}`);
        assert.equal(code, 0, `${name}: ${text}\n${said}`);
      }
      if (!uses.startsWith("actions/attest")) continue;
      for (const pattern of String(options["subject-path"]).trim().split("\n")) {
        assert.notDeepEqual(await filesOf(pattern), [], `${pattern} names nothing`);
      }
    }
    const tag = steps.find(({ name }) => name === "The tag is the version")?.run ?? "";
    assert.notEqual((await run(tag, "v99.0.0")).code, 0, "another tag is no release");

    const calls = (await Deno.readTextFile(told)).trim().split("\n\n")
      .map((call) => call.split("\n"));
    assert.deepEqual(
      calls.map(([each, verb]) => `${each} ${verb}`),
      ["docker build", "docker run", "gh release", "npm publish"],
    );
    const named = calls.flat().filter((word) => /^\.build\/|^Containerfile$/.test(word));
    assert.ok(named.length >= 7, named.join(" "));
    for (const path of named) {
      assert.ok((await Deno.stat(`${ROOT}/${path}`)).isFile, `"${path}" is there`);
    }
    const sums = await Deno.readTextFile(`${ROOT}/.build/release/SHA256SUMS`);
    for (const path of named.filter((each) => /\.(?:tgz|gz|deb)$/.test(each))) {
      assert.ok(sums.includes(path.replace(/^.*\//, "")), `${path} has its sum`);
    }
    const notes = await Deno.readTextFile(`${ROOT}/.build/release/NOTES.md`);
    assert.match(notes, new RegExp(`^# Remit ${VERSION}\n`));
  });
});
