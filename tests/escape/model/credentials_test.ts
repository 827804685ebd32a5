import assert from "node:assert/strict";
import { type EchoKind, serveEchoes } from "../../fake/echoing_provider.ts";
import {
  formsIn,
  formsOf,
  huntFolder,
  huntProcesses,
  huntWhile,
  processesOf,
  type ProcessHunt,
} from "../../fake/key_hunt.ts";
import { planned } from "../../fake/model_scenes.ts";
import { type Finished, type Machine, onMachine, type Running } from "../../fake/remit.ts";
import { cache } from "../../fake/siege.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { kill9 } from "../../fake/processes.ts";
import { needs } from "../../needs.ts";
import { think, withServices } from "./_models.ts";

/** Each form of it is another: quotes, a backslash, what URLs and base64 write otherwise. */
const KEY = 'sk-quince"Larder\\4491+basalt/0=7%wren~marl';
const FORMS = formsOf(KEY);
const HEADERS: Readonly<Record<EchoKind, readonly string[]>> = {
  anthropic: ["--header", "x-api-key"],
  openai: ["--header", "authorization", "--prefix", "Bearer "],
};

/** Everything that a run left, and what its commands say of it afterwards. */
async function leftBy(
  machine: Machine,
  since: number,
  done: readonly Finished[],
): Promise<readonly string[]> {
  const hits: string[] = [];
  const said = (what: string, { stdout, stderr }: Finished): void => {
    for (const [name, text] of Object.entries({ stdout, stderr })) {
      hits.push(
        ...formsIn(new TextEncoder().encode(text), FORMS).map((f) => `${what} ${name}: ${f}`),
      );
    }
  };
  done.forEach((each, n) => said(`command ${n}`, each));
  const tasks = await machine.remit(["task", "show", "--json"]);
  said("task show", tasks);
  assert.equal(tasks.code, 0, tasks.stdout + tasks.stderr);
  for (const { id } of JSON.parse(tasks.stdout) as { id: string }[]) {
    for (const words of [["log", id, "--json"], ["receipt", "export", id]]) {
      said(words.join(" "), await machine.remit(words));
    }
  }
  for (const words of [["audit", "query"], ["secret", "list"]]) {
    said(words.join(" "), await machine.remit(words));
  }
  // STATE, configuration, runtime folder, temporary files, home, work with the recording and the trace.
  const own = await huntFolder(machine.state.replace(/\/state$/, ""), FORMS);
  assert.ok(own.files >= 8, `only ${own.files} files`);
  const built = await huntFolder(cache(), FORMS, { since });
  return [...hits, ...own.hits, ...built.hits];
}

/** A short list: the whole of one would be thousands of lines. */
function assertNowhere(hits: readonly string[]): void {
  assert.equal(hits.length, 0, `${hits.length} times, as in:\n${hits.slice(0, 20).join("\n")}`);
}

/** The processes of the model services that run now. */
async function servicesOf(machine: Machine): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await processesOf(machine)) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("/remote.js")) found.push(pid);
  }
  return found;
}

const roles = ({ seen }: ProcessHunt): string =>
  ["kernel", "worker", "remote"].filter((role) =>
    [...seen].some((line) => line.includes(`/${role}.js`))
  )
    .join();

function words(machine: Machine, kind: EchoKind, url: string, name: string): readonly string[] {
  return [
    ...[
      "run",
      "-p",
      "When?",
      "--model",
      `${kind}:tiny@${url}`,
      "--record",
      `${machine.dir}/${name}.jsonl`,
    ],
    ...["--trace", `${machine.dir}/${name}.trace`],
  ];
}

async function hunted(
  machine: Machine,
  run: Running,
): Promise<readonly [Finished, ProcessHunt]> {
  const hunt = huntWhile(machine, FORMS, { done: run.done });
  return [await run.done, await hunt];
}

for (const kind of ["anthropic", "openai"] as const) {
  Deno.test(`a key that alice kept would have come back from ${kind} in bodies, headers and errors, and stayed (long)`, async () => {
    await onMachine(async (machine) => {
      const since = Date.now();
      await using provider = serveEchoes(kind, [
        "answer",
        "answer",
        "error",
        "page",
        "redirect",
        "breaks",
        "encoded",
      ]);
      const set = ["secret", "set", "mine", "--origin", provider.origin, ...HEADERS[kind]];
      const kept = await machine.remit(set, `${KEY}\n`);
      assert.equal(kept.code, 0, kept.stderr);
      const mount = await planned(machine);
      const done = [kept];
      const hunts: ProcessHunt[] = [];
      for (const name of ["answers", "page", "redirect", "breaks", "encoded"]) {
        const run = machine.start([...words(machine, kind, provider.url, name), ...mount]);
        const [finished, hunt] = await hunted(machine, run);
        done.push(finished);
        hunts.push(hunt);
        assert.notEqual(finished.code, 0, finished.stdout);
      }
      assert.equal(provider.key(), KEY, "the provider was sent the key");
      assert.ok(provider.received.length >= 6);
      // Whoever is given the recording joins its pieces by playing it.
      for (const name of ["answers", "encoded"]) {
        const play = ["run", "-p", "When?", "--replay", `${machine.dir}/${name}.jsonl`];
        const replayed = await machine.remit([...play, ...mount]);
        done.push(replayed);
        if (name === "answers") assert.match(replayed.stderr, /its answer held the key in pieces/);
      }
      assert.ok(
        !JSON.stringify(provider.received.map(({ body }) => body)).includes(KEY.slice(0, 9)),
      );
      assert.equal(roles(hunts[0] ?? { seen: new Set(), hits: [] }), "kernel,worker,remote");
      assert.deepEqual(hunts.flatMap(({ hits }) => hits), []);
      assertNowhere(await leftBy(machine, since, done));
    });
  });
}

Deno.test("a model service that is killed in the midst would have left the key in what it had written (long)", async () => {
  await onMachine(async (machine) => {
    const since = Date.now();
    await using provider = serveEchoes("anthropic", ["silence", "page"]);
    const set = ["secret", "set", "mine", "--origin", provider.origin, ...HEADERS.anthropic];
    await machine.remit(set, `${KEY}\n`);
    const run = machine.start(words(machine, "anthropic", provider.url, "killed"));
    const going = hunted(machine, run);
    await provider.came(1);
    const killed = await waitUntil("a model service", async () => {
      const pids = await servicesOf(machine);
      return pids.length > 0 ? pids : undefined;
    });
    // While it holds the key and an answer, all of them are looked at once more.
    const held = await huntProcesses(await processesOf(machine), FORMS);
    assert.deepEqual(held.hits, []);
    for (const pid of killed) kill9(pid);
    const [done, hunt] = await going;
    // Another one was started for the same task, and asked again: the first had said all that it would.
    assert.equal(done.code, 2, done.stderr);
    assert.match(done.stderr, /does not take the request \(418\)/);
    assert.equal(provider.received.length, 2);
    assert.equal(roles(hunt), "kernel,worker,remote");
    assert.deepEqual(hunt.hits, []);
    assertNowhere(await leftBy(machine, since, [done]));
  });
});

Deno.test("a key that alice exported would have shown in a process's environment or arguments, or on the disk", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    const since = Date.now();
    // Without any network: the key is lent, the service is started with it, and nobody is reached.
    const [program = "", ...args] = machine.command([
      ...["run", "-p", "When?", "--model", "anthropic:tiny", ...await planned(machine)],
      ...["--record", `${machine.dir}/env.jsonl`, "--trace", `${machine.dir}/env.trace`],
    ]);
    const child = new Deno.Command("bwrap", {
      args: ["--dev-bind", "/", "/", "--unshare-net", "--", program, ...args],
      cwd: machine.dir,
      clearEnv: true,
      env: { ...machine.env, ANTHROPIC_API_KEY: KEY },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = child.output();
    const mine = new Set<number>([child.pid]);
    const hunt = await huntWhile(machine, FORMS, {
      done: output,
      // What she exported stands in the environment of her own command, and nowhere else.
      except: (pid, command) => mine.has(pid) || command.includes("cli/main.ts run"),
    });
    const { code, stdout, stderr } = await output;
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    const done = { code, stdout: text(stdout), stderr: text(stderr) };
    assert.equal(code, 67, done.stderr);
    assert.match(done.stderr, /the name of api\.anthropic\.com is not known/);
    assert.equal(roles(hunt), "kernel,worker,remote");
    assert.deepEqual(hunt.hits, []);
    assertNowhere(await leftBy(machine, since, [done]));
  });
});

Deno.test("a key that is lent to the kernel would have come back through a service that has it", async () => {
  await withServices(async (siege) => {
    const since = Date.now();
    await using provider = serveEchoes("openai", ["answer", "error"]);
    const secret = {
      ...{ name: "env-mine", value: KEY, origin: provider.origin },
      ...{ header: "authorization", prefix: "Bearer " },
    };
    await siege.ask("lend", secret);
    const config = { model: "m", url: provider.url, secret: "env-mine", record: true };
    const task = await think(siege, { ref: "openai:m", config });
    assert.equal((await task.end).exit, 64);
    assert.equal(provider.key(), KEY);
    const told = new TextEncoder().encode(JSON.stringify([task.events, await task.task()]));
    assert.deepEqual(formsIn(told, FORMS), []);
    assertNowhere((await huntFolder(siege.dir, FORMS)).hits);
    assertNowhere((await huntFolder(cache(), FORMS, { since })).hits);
  });
});

Deno.test("the search finds a key in each form, in a file, a name, a link, an argument and an environment", async () => {
  await onMachine(async (machine) => {
    for (const [n, { bytes }] of FORMS.entries()) {
      const environment = new Uint8Array(bytes.length + 5).fill(0xc3);
      environment.set(bytes, 3);
      await Deno.writeFile(`${machine.dir}/planted${n}`, environment);
    }
    await Deno.writeTextFile(`${machine.dir}/${encodeURIComponent(KEY)}`, "");
    await Deno.symlink(KEY, `${machine.dir}/link`);
    const { hits } = await huntFolder(machine.dir, FORMS);
    for (const [n, { name }] of FORMS.entries()) {
      assert.ok(hits.includes(`${machine.dir}/planted${n}: ${name}`), name);
    }
    assert.ok(hits.some((hit) => hit.includes(": name percent-encoded")));
    assert.ok(hits.includes(`${machine.dir}/link: link plain`));
    // As a run would leave it: base64 of a line that holds it, wherever in the line it stands.
    for (const before of ["", "a", "ab", "abc"]) {
      const line = new TextEncoder().encode(`${before}${KEY}:rest`).toBase64();
      assert.notDeepEqual(formsIn(new TextEncoder().encode(line), FORMS), [], before);
    }
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "await new Response(Deno.stdin.readable).text()", KEY],
      env: { PLANTED: `x${KEY}` },
      stdin: "piped",
    }).spawn();
    const found = await waitUntil("the planted process", async () => {
      const hunt = await huntProcesses([child.pid], FORMS);
      return hunt.hits.length > 1 ? hunt.hits : undefined;
    });
    assert.ok(found.some((hit) => hit.endsWith("(cmdline): plain")));
    assert.ok(found.some((hit) => hit.endsWith("(environ): plain")));
    await child.stdin.close();
    await child.status;
  });
});
