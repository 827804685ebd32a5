import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Fault, type Json } from "../../../contracts/base/mod.ts";
import { NOTHING_KNOWN } from "../../../contracts/memory/mod.ts";
import {
  EVALUATOR,
  HAS_BWRAP,
  makeWorld,
  realPowers,
  runs,
} from "../../_fixture/small_children.ts";
import { makeWikiServices, type WikiServices } from "./wiki_services.ts";

/** Answers `open` as a wiki does, and `eval` with whatever the source gives. */
const WIKI = EVALUATOR.replace(
  'if (op !== "eval"',
  'if (op === "open") { globalThis.opened = body; return send([-id, null, {}]); }\n  if (op !== "eval"',
);

interface Wikis extends AsyncDisposable {
  readonly dir: string;
  readonly services: WikiServices;
  /** Lets the time of whatever waits be up. */
  late(): void;
}

async function makeWikis({ walled = true } = {}): Promise<Wikis> {
  const world = await makeWorld(WIKI);
  for (const folder of ["wiki", "wiki/pages", "state", "deno"]) {
    await Deno.mkdir(`${world.dir}/${folder}`, { recursive: true });
  }
  const { config } = world;
  const bundles = { ...config.bundles, wiki: `${world.dir}/child.js` };
  const { bwrap, ...rest } = config.programs;
  const programs = walled && bwrap !== undefined ? { ...rest, bwrap } : rest;
  const children = await world.children({ bundles, programs });
  const timers: (() => void)[] = [];
  const powers = {
    ...realPowers(),
    after(_ms: number, f: () => void): () => void {
      timers.push(f);
      return () => void timers.splice(timers.indexOf(f), 1);
    },
  };
  return {
    dir: world.dir,
    services: makeWikiServices({ children, powers, trustedKeys: ["k"], contents: NOTHING_KNOWN }),
    late: () => timers.forEach((f) => f()),
    [Symbol.asyncDispose]: () => world.close(),
  };
}

const asking = { signal: new AbortController().signal, deadlineMs: 1_000 };
const isFault = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;
const PID = "return Deno.pid";

/** What Deno says of a touch: `ok`, or the error's name. */
const touch = (code: string): string => `try { ${code}; return "ok" } catch (e) { return e.name }`;

for (const walled of [true, false]) {
  const how = walled ? "with bubblewrap" : "without bubblewrap";
  Deno.test({
    name:
      `a wiki's process reads and writes its two folders, and nothing else of the machine, ${how}`,
    ignore: walled && !HAS_BWRAP,
    async fn() {
      await using wikis = await makeWikis({ walled });
      const { dir, services } = wikis;
      const folders = { folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: false };
      const wiki = services.hold(folders);
      const says = (code: string): Promise<Json> => wiki.ask("eval", touch(code), asking);
      equal(await says(`Deno.writeTextFileSync("${dir}/wiki/pages/a.md", "a")`), "ok");
      equal(await says(`Deno.writeTextFileSync("${dir}/state/db", "a")`), "ok");
      for (
        const code of [
          `Deno.readTextFileSync("${dir}/desk/notes/a.md")`,
          `Deno.writeTextFileSync("${dir}/desk/b.md", "")`,
          `Deno.readDirSync("${dir}")`,
          `Deno.readTextFileSync("/etc/hostname")`,
          `new Deno.Command("/bin/sh").outputSync()`,
          `Deno.hostname()`,
          `await Deno.connect({ port: 80 })`,
          `Deno.symlinkSync("${dir}/desk", "${dir}/wiki/desk"); Deno.readTextFileSync("${dir}/wiki/desk/notes/a.md")`,
        ]
      ) {
        match(String(await says(code)), /NotCapable|PermissionDenied|NotFound/, code);
      }
    },
  });
}

Deno.test("a wiki that is only read cannot be written to by its process, and its state can", async () => {
  await using wikis = await makeWikis();
  const { dir, services } = wikis;
  const wiki = services.hold({
    ...{ folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: true },
  });
  const says = (code: string): Promise<Json> => wiki.ask("eval", touch(code), asking);
  equal(await says(`Deno.writeTextFileSync("${dir}/wiki/pages/a.md", "a")`), "NotCapable");
  equal(await says(`Deno.writeTextFileSync("${dir}/state/db", "a")`), "ok");
  deepEqual(await wiki.ask("eval", "return globalThis.opened", asking), {
    ...{ folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: true },
    ...{ create: false, trustedKeys: ["k"] },
  });
});

Deno.test("two tasks share one wiki's process; it ends when neither holds it and its time is up", async () => {
  await using wikis = await makeWikis();
  const { dir, services, late } = wikis;
  const folders = { folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: false };
  const [alices, bobs] = [services.hold(folders), services.hold(folders)];
  const pid = Number(await alices.ask("eval", PID, asking));
  equal(await bobs.ask("eval", PID, asking), pid);
  const os = Number(await alices.ask("eval", "return 1", asking));
  equal(os, 1);
  alices.release();
  await rejects(alices.ask("eval", PID, asking), isFault("gone"));
  late();
  equal(await bobs.ask("eval", PID, asking), pid);
  bobs.release();
  late();
  await services.close();
  if (pid > 100) equal(runs(pid), false);
});

Deno.test("a process that dies under a call is a fault for that call, and there anew for the next", async () => {
  await using wikis = await makeWikis();
  const { dir, services } = wikis;
  const folders = { folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: false };
  const wiki = services.hold(folders);
  await rejects(wiki.ask("eval", "Deno.exit(3)", asking), isFault("upstream"));
  equal(await wiki.ask("eval", "return 7", asking), 7);
});

Deno.test("a process that spins is killed when its time is up, and the next call finds a fresh one", async () => {
  await using wikis = await makeWikis();
  const { dir, services, late } = wikis;
  const folders = { folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: false };
  const wiki = services.hold(folders);
  await wiki.ask("eval", "return 1", asking);
  const spun = rejects(wiki.ask("eval", "for (;;);", asking), isFault("timedOut"));
  await Promise.resolve();
  late();
  await spun;
  equal(await wiki.ask("eval", "return 8", asking), 8);
});

Deno.test("who cancels a look does not wait for it, and what writes says what it did all the same", async () => {
  await using wikis = await makeWikis();
  const { dir, services } = wikis;
  const folders = { folder: `${dir}/wiki`, stateFolder: `${dir}/state`, readOnly: false };
  const wiki = services.hold(folders);
  const stop = new AbortController();
  const never = "await new Promise(() => {})";
  const cancelled = rejects(
    wiki.ask("eval", never, { ...asking, signal: stop.signal }),
    isFault("cancelled"),
  );
  const told = "return await new Promise((tell) => { globalThis.tell = tell; })";
  const written = wiki.ask("eval", told, { ...asking, signal: stop.signal, writes: true });
  await wiki.ask("eval", "return 1", asking);
  stop.abort();
  await cancelled;
  await wiki.ask("eval", "globalThis.tell(9); return 2", asking);
  equal(await written, 9);
});
