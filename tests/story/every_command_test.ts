/** bob does not know the commands yet: each one explains itself, and says no to what it does not know. */
import assert from "node:assert/strict";
import { COMMANDS } from "../../cli/arguments/command_table.ts";
import type { Powers } from "../../cli/powers.ts";
import { makePaint } from "../../cli/terminal/paint.ts";
import { type Finished, onMachine } from "../fake/remit.ts";
import { runCommandLine } from "../../cli/_fixture/world.ts";

/** Runs a command line whose every power fails the test: words are explained without touching anything. */
async function explain(words: readonly string[]): Promise<Finished> {
  const nothing = (): never => {
    throw new Error(`"${words.join(" ")}" touched the machine`);
  };
  const shown = { stdout: "", stderr: "" };
  const powers: Powers = {
    screen: {
      out: (text) => shown.stdout += text,
      say: (line) => shown.stderr += `${line}\n`,
      hint: () => undefined,
      paint: makePaint(false),
      width: 80,
    },
    keyboard: undefined,
    disk: {
      tree: nothing,
      read: nothing,
      list: nothing,
      real: nothing,
      stat: nothing,
      obstacle: nothing,
      write: nothing,
      remove: nothing,
      makeFolder: nothing,
      append: nothing,
      clear: nothing,
      link: nothing,
      temporary: nothing,
    },
    environment: {
      cwd: "/",
      env: nothing,
      uid: 0,
      root: false,
      linux: true,
      command: "remit",
      home: "/",
      now: nothing,
      id: nothing,
    },
    interrupts: { listen: nothing },
    receipts: { verify: nothing },
    schemas: { misfit: nothing },
    logs: { verify: nothing },
    walls: { look: nothing },
    models: {
      http: { get: nothing, canConnect: nothing },
      weights: {
        stat: nothing,
        reading: nothing,
        hash: nothing,
        copy: nothing,
        writer: nothing,
        hold: nothing,
        keep: nothing,
      },
      engine: () => ({ offer: undefined, found: nothing, fetch: nothing }),
      provideProgram: nothing,
      vectors: nothing,
    },
    plugins: {
      builtIn: nothing,
      reserved: [],
      ownTools: nothing,
      check: nothing,
      build: nothing,
      readToolYaml: nothing,
      look: nothing,
      judge: nothing,
      adapt: nothing,
      host: nothing,
    },
    wikis: {
      ready: nothing,
      open: nothing,
      entries: nothing,
      look: nothing,
      isNever: nothing,
      fetch: nothing,
      input: nothing,
      edit: nothing,
    },
    mcpStore: {
      exclusively: nothing,
      step: nothing,
      draft: nothing,
      files: nothing,
      keep: nothing,
      drop: nothing,
      changedAt: nothing,
      hashFile: nothing,
      find: nothing,
      python: nothing,
      ready: nothing,
      deno: "",
    },
    serve: { start: nothing, input: nothing, output: nothing, pause: nothing, secret: nothing },
    service: {
      lock: nothing,
      door: nothing,
      askService: nothing,
      after: nothing,
      random: nothing,
      hangup: nothing,
    },
    backup: { copy: nothing, verify: nothing },
    login: { start: nothing, listen: nothing, random: nothing, after: nothing },
    watch: nothing,
    serveSite: nothing,
    startPeer: nothing,
    kernels: nothing,
    gateways: { post: nothing, pause: nothing },
    swarm: {
      ...{
        gitLoop: nothing,
        git: nothing,
        check: nothing,
        plant: nothing,
        clear: nothing,
        names: () => [],
      },
      ...{ read: nothing, kind: nothing, write: nothing, journal: nothing, past: () => [] },
      ...{ lock: nothing, now: nothing, rest: nothing, keep: nothing, swap: nothing },
    },
    redteam: {
      open: nothing,
      own: nothing,
      shipped: nothing,
      names: nothing,
      driver: nothing,
      now: nothing,
    },
    pipe: { readable: new ReadableStream(), writable: new WritableStream() },
    readInput: nothing,
  };
  return { code: await runCommandLine(words, powers), ...shown };
}

function assertHelp(name: string, help: Finished): void {
  assert.equal(help.code, 0, name);
  assert(help.stdout.includes(`remit ${name}`.trim()), name);
  assert.match(help.stdout, /example/i, name);
  assert.match(help.stdout, /--state/, name);
  assert.match(help.stdout, /--json/, name);
}

function assertUnknown(name: string, unknown: Finished): void {
  assert.equal(unknown.code, 2, name);
  assert.match(unknown.stderr, /Cannot read --frobnicate/, name);
  assert.equal(unknown.stdout, "", name);
}

Deno.test("bob asks every command for --help and --version and gives it an unknown flag: none touches anything", async () => {
  assert(COMMANDS.length > 25);
  for (const { name } of COMMANDS) {
    const words = name === "" ? [] : name.split(" ");
    assertHelp(name, await explain([...words, "--help"]));
    const version = await explain([...words, "--version"]);
    assert.equal(version.code, 0, name);
    assert.match(version.stdout, /^remit \d+\.\d+\.\d+\n$/, name);
    assertUnknown(name, await explain([...words, "--frobnicate"]));
  }
  // And so for the program as it is.
  await onMachine(async (machine) => {
    assertHelp("task show", await machine.remit(["task", "show", "--help"]));
    assert.match((await machine.remit(["-V"])).stdout, /^remit \d+\.\d+\.\d+\n$/);
    assertUnknown("audit verify", await machine.remit(["audit", "verify", "--frobnicate"]));
    assert.deepEqual(await Array.fromAsync(Deno.readDir(machine.dir)), []);
  });
});

Deno.test("bob mistypes: each time exit code 2 and words that help, and as JSON where he asked for it", async () => {
  await onMachine(async (machine) => {
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [["frobnicate"], /there is run, resume/],
      [["task"], /say which: list, show, cancel/],
      [["task", "eat"], /there is list, show, cancel/],
      [["answer", "q1"], /it is remit answer ID allow\|deny/],
      [["run", "-p"], /it needs a value/],
      [["run", "-p", ""], /the request is empty/],
      [["run", "-p", "x"], /no model is chosen/],
      [["run", "-p", "x", "--model", "scripted:nowhere.yaml"], /nowhere\.yaml/],
      [["run", "-p", "x", "--model", "scripted:x", "--on-question", "maybe"], /ask, queue, deny/],
      [["run", "-p", "x", "--mount", "desk"], /desk/],
      [["run", "-p", "x", "--mount", `s=${machine.state}`, "--model", "scripted:x"], /state/],
      [["kill", "minus-one"], /it is no PID/],
    ];
    for (const [args, why] of wrong) {
      const done = await machine.remit(args);
      assert.equal(done.code, 2, `${args.join(" ")}: ${done.stderr}`);
      assert.match(done.stderr, why);
    }
    const json = await machine.remit(["frobnicate", "--json"]);
    assert.equal(json.code, 2);
    assert.match(json.stdout, /"code": "invalidInput"/);
  });
});
