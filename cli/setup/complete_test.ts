import assert from "node:assert/strict";
import { needs } from "../../tests/needs.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { COMMANDS } from "../arguments/command_table.ts";
import { type Candidate, complete, type Live } from "./complete.ts";

const one = (word: string) => (): Promise<readonly Candidate[]> =>
  Promise.resolve([{ word, says: "" }]);
const LIVE: Live = {
  tasks: one("t1"),
  questions: one("q1"),
  models: one("ollama:qwen3"),
  mounts: one("notes"),
  keys: one("limits.money"),
};
const words = async (line: string): Promise<readonly string[]> =>
  (await complete(line.split(" "), LIVE)).candidates.map(({ word }) => word);

Deno.test("each command and each of its flags is completed from the one table", async () => {
  for (const { name, flags } of COMMANDS.filter(({ name }) => name !== "")) {
    const [first = "", second] = name.split(" ");
    assert((await words(first.slice(0, 2))).includes(first), name);
    if (second !== undefined) assert((await words(`${first} ${second}`)).includes(second), name);
    const found = await words(`${name} --`);
    for (const flag of flags) assert(found.includes(`--${flag.name}`), `${name} --${flag.name}`);
  }
});

Deno.test("live words stand where their kind is wanted, and a word that a shell would read as more never", async () => {
  assert.deepEqual(await words("task show "), ["t1", "last"]);
  assert.deepEqual(await words("answer "), ["q1"]);
  assert.deepEqual(await words("answer q1 "), ["allow", "deny"]);
  assert.deepEqual(await words("run --model oll"), ["ollama:qwen3"]);
  assert.deepEqual(await words("run --model=oll"), ["--model=ollama:qwen3"]);
  assert.deepEqual(await words("model use "), ["ollama:qwen3"]);
  assert.deepEqual(await words("config set "), ["limits.money"]);
  assert.deepEqual(await words("answer q1 allow --for s"), ["session"]);
  assert.deepEqual(await words("run -- --mo"), []);
  assert.equal((await complete(["run", "--answers", ""], LIVE)).files, true);
  const hostile = { ...LIVE, models: one("$(touch x)") };
  assert.deepEqual((await complete(["model", "use", ""], hostile)).candidates, []);
});

Deno.test("complete starts no kernel, and is silent where the running one refuses", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["complete", "--", "task", "show", ""], powers), 0);
  assert.deepEqual(powers.kernels_.wishes, []);
  assert.equal(powers.screen.outs.join(""), "last\tthe newest task\n");
  assert.deepEqual(powers.screen.lines, []);
});

/** Runs a script in a shell where `remit` is a program that answers as the real one does. */
async function inShell(shell: string, script: string): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "remit-complete-" });
  try {
    const powers = fakePowers();
    assert.equal(await runCommandLine(["completion", shell], powers), 0);
    await Deno.writeTextFile(`${folder}/load`, powers.screen.outs.join(""));
    const fake = '#!/bin/sh\nshift 2\nprintf "%s\\n" "$@" >"$0.asked"\n' +
      'printf "use\\tmake a model the one: that runs\\nollama:qwen3\\t\\n"\n';
    await Deno.writeTextFile(`${folder}/remit`, fake, { mode: 0o755 });
    const done = await new Deno.Command(shell, {
      args: ["-c", script.replaceAll("LOAD", `${folder}/load`)],
      env: { PATH: `${folder}:${Deno.env.get("PATH")}`, HOME: folder },
    }).output();
    const text = new TextDecoder();
    assert.equal(text.decode(done.stderr), "");
    return `${text.decode(done.stdout)}${await Deno.readTextFile(`${folder}/remit.asked`)}`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("bash asks with the words as they stand, and replaces what comes after a colon", async () => {
  if (!needs("bash")) return;
  const line = (typed: string): string =>
    `source LOAD; COMP_LINE="${typed}"; COMP_POINT=\${#COMP_LINE}; _remit; printf "%s\\n" "\${COMPREPLY[@]}"`;
  assert.equal(await inShell("bash", line("remit model us")), "use\nollama:qwen3\nmodel\nus\n");
  assert.match(await inShell("bash", line("remit model use ollama:q")), /^use\nqwen3\n/);
});

Deno.test("zsh and fish load what completion prints, and offer its words", async () => {
  if (!needs("zsh")) return;
  const stubs = 'compdef() { :; }; _describe() { print -rl -- "${found[@]}"; }; source LOAD; ';
  const zsh = await inShell("zsh", `${stubs}words=(remit model us); CURRENT=3; _remit`);
  assert.equal(zsh, "use:make a model the one: that runs\nollama\\:qwen3:\nmodel\nus\n");
  if (!needs("fish")) return;
  const fish = await inShell("fish", 'source LOAD; complete -C "remit model us"');
  assert.equal(fish, "use\tmake a model the one: that runs\nmodel\nus\n");
});
