import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { makeRig } from "../_fixture/rig.ts";

const fault = (code: FaultCode, pattern = /./) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code && pattern.test(error.message);

function run(command: string, ...args: string[]): void {
  const { success } = new Deno.Command(command, { args }).outputSync();
  if (!success) throw new TypeError(`${command} failed`);
}

const OUT: Readonly<Record<string, string>> = {
  "the system's passwords": "/etc/passwd",
  "the host's own memory map": "/proc/self/maps",
  "the host's environment": "/proc/self/environ",
  "the host's standard input": "/dev/fd/0",
  "a device": "/dev/zero",
  "a file beside the mount": "../beside.txt",
};
for (const [what, target] of Object.entries(OUT)) {
  Deno.test(`mallory's link to ${what} is not read, stated, searched, published or written through`, async () => {
    using rig = makeRig();
    Deno.writeTextFileSync(`${rig.root}/beside.txt`, "root:beside");
    Deno.symlinkSync(target, `${rig.desk}/link`);
    const path = "desk/link";
    const refused = fault("refused");
    await rejects(rig.call("file_read", { path }), refused);
    await rejects(rig.call("file_stat", { path }), refused);
    await rejects(rig.call("outbox_publish", { path }), refused);
    await rejects(rig.call("file_write", { path, content: "x" }), refused);
    await rejects(rig.call("file_delete", { path }), refused);
    await rejects(rig.call("file_search", { query: "root", path }), refused);
    match((await rig.call("file_search", { query: "root" })).content, /nothing found/);
    match((await rig.call("file_list", { path: "desk" })).content, /desk\/link \[link\]/);
    deepEqual(rig.also, []);
  });
}

Deno.test("a link to a file of the same mount is read once the gate let through where it leads to", async () => {
  using rig = makeRig();
  rig.put("docs/rules.md", "use tabs");
  Deno.symlinkSync("docs/rules.md", `${rig.desk}/AGENTS.md`);
  Deno.symlinkSync("docs", `${rig.desk}/manual`);
  equal((await rig.call("file_read", { path: "desk/AGENTS.md" })).content, "use tabs");
  match((await rig.call("file_list", { path: "desk/manual" })).content, /docs\/rules\.md/);
  deepEqual(rig.also, ["desk/docs/rules.md", "desk/docs"]);
  const last = rig.sent.at(-1)?.options.scopes.map(({ path }) => path);
  deepEqual(last, ["desk/manual", "desk/docs"]);
  await rig.call("file_edit", { path: "desk/docs/rules.md", old: "tabs", new: "spaces" });
  equal((await rig.call("file_read", { path: "desk/AGENTS.md" })).content, "use spaces");
  const edit = { path: "desk/AGENTS.md", old: "spaces", new: "x" };
  await rejects(rig.call("file_edit", edit), fault("refused", /not written through/));
});

Deno.test("a link whose target the gate refuses is not read, and a plugin's is named", async () => {
  using rig = makeRig();
  rig.put("docs/rules.md", "use tabs");
  Deno.symlinkSync("docs/rules.md", `${rig.desk}/AGENTS.md`);
  const call = rig.grant("file_read", { path: "desk/AGENTS.md" });
  const { signal } = new AbortController();
  const refusing = {
    ...call,
    alsoReads(path: string): void {
      throw new Fault("refused", `no lease for ${path}`);
    },
  };
  const { invoke } = rig.binding("file_read");
  await rejects(invoke(refusing, signal), fault("refused", /no lease for desk\/docs\/rules\.md/));
  const { alsoReads: _, ...blind } = call;
  await rejects(invoke(blind, signal), fault("refused", /a link to "desk\/docs\/rules\.md"; name/));
});

Deno.test("links that lead in a circle, and names too long for the disk, are said in words", async () => {
  using rig = makeRig({
    files: (real) => ({
      ...real,
      real: (path) => real.real(path.endsWith("/long") ? `${path}${"x".repeat(300)}` : path),
    }),
  });
  Deno.symlinkSync("b", `${rig.desk}/a`);
  Deno.symlinkSync("a", `${rig.desk}/b`);
  await rejects(
    rig.call("file_read", { path: "desk/a" }),
    fault("refused", /"desk\/a": its links lead in a circle/),
  );
  await rejects(
    rig.call("file_read", { path: "desk/long" }),
    fault("invalidArguments", /"desk\/long": its name is too long/),
  );
});

Deno.test("no tool shows, reads, searches, stages or links to a never-listed name with characters that cannot be seen", async () => {
  using rig = makeRig();
  const name = ".e\u{200b}nv";
  rig.put(name, "TOKEN=1");
  rig.put("keys.\u{ff25}nv", "TOKEN=2");
  Deno.symlinkSync(name, `${rig.desk}/plan.md`);
  const listed = await rig.call("file_list", { path: "desk" });
  equal(listed.content.replaceAll("desk/plan.md [link]", "").includes("nv"), false);
  const found = await rig.call("file_search", { query: "TOKEN" });
  match(found.content, /nothing found/);
  equal(/could not be read/.test(found.content), false);
  for (const path of [`desk/${name}`, "desk/keys.\u{ff25}nv", "desk/plan.md"]) {
    await rejects(rig.call("file_read", { path }), fault("refused", /never-list/), path);
    await rejects(
      rig.call("file_search", { query: "T", path }),
      fault("refused", /never-list/),
      path,
    );
    await rejects(rig.call("outbox_publish", { path }), fault("refused"), path);
    await rejects(rig.call("file_write", { path, content: "x" }), fault("refused"), path);
  }
});

Deno.test("mallory's linked folder leads nowhere: not to read, list, stage or apply", async () => {
  using rig = makeRig();
  Deno.mkdirSync(`${rig.root}/outside`);
  Deno.writeTextFileSync(`${rig.root}/outside/a`, "secret");
  Deno.symlinkSync("../outside", `${rig.desk}/dir`);
  await rejects(rig.call("file_read", { path: "desk/dir/a" }), fault("refused"));
  await rejects(rig.call("file_list", { path: "desk/dir" }), fault("refused"));
  await rejects(rig.call("file_write", { path: "desk/dir/a", content: "x" }), fault("refused"));
  await rig.call("file_write", { path: "desk/dir/new", content: "x" });
  await rejects(rig.call("patch_apply", {}), fault("refused", /links are not written through/));
  deepEqual([...Deno.readDirSync(`${rig.root}/outside`)].map(({ name }) => name), ["a"]);
  match((await rig.call("file_search", { query: "secret" })).content, /nothing found/);
});

Deno.test("a folder that became a link between staging and applying is not written through", async () => {
  using rig = makeRig();
  rig.put("dir/a", "a");
  await rig.call("file_write", { path: "desk/dir/a", content: "b" });
  Deno.mkdirSync(`${rig.root}/outside`);
  Deno.writeTextFileSync(`${rig.root}/outside/a`, "a");
  Deno.removeSync(`${rig.desk}/dir`, { recursive: true });
  Deno.symlinkSync("../outside", `${rig.desk}/dir`);
  await rejects(rig.call("patch_apply", {}), fault("refused"));
  equal(Deno.readTextFileSync(`${rig.root}/outside/a`), "a");
});

Deno.test("a file that became a link to another file of the mount is not applied to", async () => {
  using rig = makeRig();
  rig.put("a", "same");
  rig.put("b", "same");
  await rig.call("file_write", { path: "desk/a", content: "changed" });
  Deno.removeSync(`${rig.desk}/a`);
  Deno.symlinkSync("b", `${rig.desk}/a`);
  await rejects(rig.call("patch_apply", {}), fault("refused"));
  equal(rig.text("b"), "same");
});

Deno.test("keys.env is reached by no name: its own, a link, a hard link, a case, a copy of its folder", async () => {
  using rig = makeRig();
  rig.put("keys.env", "TOKEN=abc");
  rig.put("app/.env.local", "TOKEN=abc");
  rig.put(".ssh/config", "TOKEN=abc");
  Deno.symlinkSync("keys.env", `${rig.desk}/innocent.md`);
  Deno.linkSync(`${rig.desk}/keys.env`, `${rig.desk}/hard.md`);
  Deno.symlinkSync(".ssh", `${rig.desk}/folder`);
  const names = ["keys.env", "KEYS.ENV", "app/.env.local", ".ssh/config", "innocent.md", "hard.md"];
  for (const name of [...names, "folder/config"]) {
    const path = `desk/${name}`;
    // A name in other letters is refused before it is looked for.
    await rejects(rig.call("file_read", { path }), fault("refused"));
    await rejects(rig.call("outbox_publish", { path }), fault("refused"));
    await rejects(rig.host("file_read", { path }), fault("refused"));
    await rejects(rig.call("file_edit", { path, old: "abc", new: "x" }), fault("refused"));
  }
  await rejects(rig.call("file_write", { path: "desk/new.env", content: "x" }), fault("refused"));
  const found = await rig.call("file_search", { query: "TOKEN" });
  match(found.content, /could not be read/);
  ok(!found.content.includes("TOKEN"));
  const listed = (await rig.call("file_list", { path: "desk", depth: 16 })).content;
  ok(!/keys\.env|\.env|ssh/.test(listed), listed);
  equal(rig.text("keys.env"), "TOKEN=abc");
});

Deno.test("an honest hard link is read when all its mount's secrets are known to be others", async () => {
  using rig = makeRig();
  rig.put("keys.env", "TOKEN=abc");
  rig.put("a.md", "hello");
  Deno.linkSync(`${rig.desk}/a.md`, `${rig.desk}/b.md`);
  equal((await rig.call("file_read", { path: "desk/b.md" })).content, "hello");
});

Deno.test("a hard link is refused where the secrets of its mount cannot be looked at", async () => {
  using rig = makeRig({
    files: (real) => ({
      ...real,
      stat: (path) => {
        if (path.endsWith("/keys.env")) real.open("/nonexistent/denied");
        return real.stat(path);
      },
    }),
  });
  rig.put("keys.env", "TOKEN=abc");
  rig.put("a.md", "hello");
  Deno.linkSync(`${rig.desk}/a.md`, `${rig.desk}/b.md`);
  await rejects(
    rig.call("file_read", { path: "desk/b.md" }),
    fault("refused", /not all of its mount can be looked at/),
  );
});

Deno.test({
  name: "a FIFO, a socket and a device are refused before they are opened",
  ignore: Deno.build.os === "windows",
  async fn(): Promise<void> {
    using rig = makeRig();
    run("mkfifo", `${rig.desk}/fifo`);
    using _socket = Deno.listen({ transport: "unix", path: `${rig.desk}/socket` });
    const names = ["fifo", "socket"];
    if (Deno.uid() === 0 && Deno.build.os === "linux") {
      run("mknod", `${rig.desk}/null`, "c", "1", "3");
      names.push("null");
    }
    for (const name of names) {
      const path = `desk/${name}`;
      await rejects(rig.call("file_read", { path }), fault("refused", /pipe, socket or device/));
      await rejects(rig.call("file_write", { path, content: "x" }), fault("refused"));
      match((await rig.call("file_stat", { path })).content, /pipe, socket or device/);
    }
    match((await rig.call("file_search", { query: "x" })).content, /nothing found in 0 files/);
    match((await rig.call("file_list", { path: "desk" })).content, /fifo \[not a file\]/);
  },
});

Deno.test("a FIFO in the place of a staged file is not written to", async () => {
  using rig = makeRig();
  rig.put("a", "a");
  await rig.call("file_write", { path: "desk/a", content: "b" });
  Deno.removeSync(`${rig.desk}/a`);
  run("mkfifo", `${rig.desk}/a`);
  await rejects(rig.call("patch_apply", {}), fault("refused"));
});

Deno.test("names in two Unicode forms are two files, and a new one comes in form C only", async () => {
  using rig = makeRig();
  rig.put("e\u0301.md", "decomposed");
  rig.put("\u00e9.md", "composed");
  equal((await rig.call("file_read", { path: "desk/e\u0301.md" })).content, "decomposed");
  equal((await rig.call("file_read", { path: "desk/\u00e9.md" })).content, "composed");
  await rejects(
    rig.host("file_write", { path: "desk/u\u0308.md", content: "x" }),
    fault("invalidArguments"),
  );
});

Deno.test("a name with a line end cannot forge a line of a listing", async () => {
  using rig = makeRig();
  rig.put("a\ndesk/forged.md", "x");
  const { content } = await rig.call("file_list", { path: "desk", depth: 3 });
  ok(!content.split("\n").some((line) => line.startsWith("desk/forged")), content);
});

const KEPT = [
  "remit.yaml",
  "sub/REMIT.YAML",
  "remit.lock",
  ".git/config",
  "sub/.git/hooks/x",
  "answers.json",
  "sub/answers.json",
];
for (const name of KEPT) {
  Deno.test(`no tool writes ${name}, not even past the kernel's side`, async () => {
    using rig = makeRig({ mode: "rw" });
    const path = `desk/${name}`;
    await rejects(rig.host("file_write", { path, content: "x" }), fault("refused"));
    const change = { path, next: "0".repeat(64), bytes: 1, colour: "BLUE", label: "public" };
    await rejects(
      rig.host("patch_apply", { patch: "0".repeat(64), changes: [change] }),
      fault("refused"),
    );
    deepEqual(rig.tree(), {});
  });
}

Deno.test("mallory at the kernel's end of the line gets no path past the host", async () => {
  using rig = makeRig({ mode: "rw" });
  Deno.writeTextFileSync(`${rig.root}/beside`, "secret");
  for (
    const path of ["desk/../beside", "../beside", "/etc/passwd", "desk/%2e%2e/beside", "other/a"]
  ) {
    await rejects(rig.host("file_read", { path }), (e) => e instanceof Fault);
    await rejects(rig.host("file_write", { path, content: "x" }), (e) => e instanceof Fault);
  }
  const change = {
    path: "desk/../beside",
    next: "0".repeat(64),
    bytes: 0,
    colour: "BLUE",
    label: "public",
  };
  await rejects(
    rig.host("patch_apply", { patch: "0".repeat(64), changes: [change] }),
    (e) => e instanceof Fault,
  );
  await rejects(rig.host("patch_apply", { patch: "../x", changes: [] }), (e) => e instanceof Fault);
  await rejects(rig.host("rm", {}), fault("unknownTool"));
  equal(Deno.readTextFileSync(`${rig.root}/beside`), "secret");
});

Deno.test("a folder of 400,000 entries is listed and searched within bounds", async () => {
  const named = (i: number): string => `f${String(i).padStart(6, "0")}`;
  const entries = Array.from(
    { length: 400_000 },
    (_, i) => ({ name: named(i), kind: "link" }) as const,
  );
  using rig = makeRig({
    files: (real) => ({
      ...real,
      list: (path) => path.endsWith("/many") ? [...real.list(path), ...entries] : real.list(path),
    }),
  });
  rig.put("many/a", "needle");
  const listed = await rig.call("file_list", { path: "desk/many" });
  match(listed.content, /^desk\/many\/a\ndesk\/many\/f000000 \[link\]\n/);
  match(listed.content, /more than 500 entries/);
  const found = await rig.call("file_search", { query: "needle", path: "desk" });
  match(found.content, /desk\/many\/a:1: needle/);
  match(found.content, /too large to be searched to its end/);
});
