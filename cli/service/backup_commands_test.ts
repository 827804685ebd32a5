import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { KEY_POWERS, LOG_POWERS, openLog, verifyLog } from "../../broker/audit/mod.ts";
import { loadOrMakeReceiptKey } from "../../broker/audit/signer.ts";
import { checkSqliteFile, openSqliteStore } from "../../store/sqlite/mod.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import type { Powers } from "../powers.ts";
import { makeBackupPowers } from "../../service/backup/disk_powers.ts";

const PASSPHRASE = "a passphrase of alice's";

const backup = makeBackupPowers(() =>
  Promise.resolve({
    flaws: checkSqliteFile,
    async verify(path, { keyFile, head }) {
      const { publicKey } = await loadOrMakeReceiptKey({ powers: KEY_POWERS, path: keyFile });
      const store = openSqliteStore({ path, readOnly: true });
      try {
        const found = await verifyLog({
          store,
          publicKey,
          ...(head === undefined ? {} : { head }),
        });
        const { ok, events, bad } = found;
        return { ok, events, why: bad?.why ?? "", head: found.head, receiptKey: publicKey };
      } finally {
        await store.close();
      }
    },
  })
);

type World = Awaited<ReturnType<typeof world>>;

/** alice's machine, with a kernel's log that is open and written while it is copied. */
async function world(): Promise<
  & AsyncDisposable
  & {
    readonly powers: Powers & {
      readonly screen: { readonly outs: string[]; readonly lines: string[] };
    };
    readonly state: string;
    readonly root: string;
    append(n: number): Promise<void>;
    head(): string;
    run(...argv: string[]): Promise<number>;
  }
> {
  const base = fakePowers();
  let id = 0;
  const powers = {
    ...base,
    backup,
    environment: {
      ...base.environment,
      id: (prefix: string) => `${prefix}${String(++id).padStart(12, "0")}`,
    },
  };
  const { root } = powers;
  const state = join(root, "state");
  for (
    const folder of ["kernel/work/t000000000001/content", "person", "wiki/w1", "mcp/trees/npm-x"]
  ) {
    Deno.mkdirSync(join(state, folder), { recursive: true, mode: 0o700 });
  }
  for (const folder of ["", "kernel", "person"]) Deno.chmodSync(join(state, folder), 0o700);
  const signer = await loadOrMakeReceiptKey({
    powers: KEY_POWERS,
    path: join(state, "kernel/receipt_key"),
  });
  const store = openSqliteStore({ path: join(state, "kernel/remit.db") });
  const log = await openLog({ store, signer, ...LOG_POWERS });
  const append = async (n: number): Promise<void> => {
    await log.append(`t${String(n).padStart(12, "0")}`, [
      { kind: "taskCreated", body: { profile: "operator" }, private: { words: `words ${n}` } },
    ]);
  };
  for (let n = 1; n <= 20; n++) await append(n);
  const write = (path: string, text: string): void =>
    Deno.writeTextFileSync(join(state, path), text, { mode: 0o600 });
  write("kernel/work/t000000000001/content/abc", "staged");
  write("kernel/lock", "");
  write("kernel/log", "what a kernel said");
  write("person/secrets.json", '{"sealed":"…"}');
  write("person/serve.lock", "");
  write("mcp/trees/npm-x/code.js", "fetched again");
  write("mcp/story.json", "{}");
  Deno.symlinkSync("/etc/passwd", join(state, "kernel/work/t000000000001/content/link"));
  const wiki = new DatabaseSync(join(state, "wiki/w1/wiki.db"));
  wiki.exec("PRAGMA journal_mode=WAL; CREATE TABLE page(id INTEGER PRIMARY KEY, text TEXT)");
  wiki.exec("INSERT INTO page(text) VALUES('only in the write-ahead log')");
  return {
    ...{ powers, state, root, append },
    head: () => log.head(),
    run: (...argv) => runCommandLine(argv, powers),
    async [Symbol.asyncDispose](): Promise<void> {
      wiki.close();
      await store.close();
      Deno.removeSync(root, { recursive: true });
    },
  };
}

const there = (path: string): boolean => {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
};

/** Restores changed bytes; nothing may have been put anywhere, and nothing may be left lying. */
async function refused(
  w: World,
  bytes: Uint8Array,
  flags: readonly string[] = [],
): Promise<string> {
  const file = join(w.root, "changed.backup");
  Deno.writeFileSync(file, bytes);
  w.powers.screen.lines.length = 0;
  const before = [...Deno.readDirSync(w.root)].map(({ name }) => name).sort();
  const code = await w.run("restore", file, "--state", join(w.root, "restored"), ...flags);
  assert.notEqual(code, 0);
  assert.deepEqual([...Deno.readDirSync(w.root)].map(({ name }) => name).sort(), before);
  return w.powers.screen.lines.join("\n");
}

Deno.test("alice copies a state while it is written, and has it again, checked whole", async () => {
  await using w = await world();
  const file = join(w.root, "a.backup"), restored = join(w.root, "deep/restored");
  const busy = w.append(21);
  assert.equal(await w.run("backup", file, "--state", w.state), 0);
  await busy;
  await w.append(22);
  const kept = /head ([0-9a-f]{64})/.exec(w.powers.screen.outs.join("\n"))?.[1] ?? "";
  assert.notEqual(kept, w.head());
  assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  assert.equal(await w.run("restore", file, "--state", restored, "--head", kept), 0);
  const found = await backup.verify(join(restored, "kernel/remit.db"), {
    keyFile: join(restored, "kernel/receipt_key"),
  });
  assert.deepEqual([found.ok, found.head], [true, kept]);
  const text = (path: string): string => Deno.readTextFileSync(join(restored, path));
  assert.equal(text("kernel/work/t000000000001/content/abc"), "staged");
  assert.equal(text("person/secrets.json"), '{"sealed":"…"}');
  assert.equal(text("mcp/story.json"), "{}");
  const pages = new DatabaseSync(join(restored, "wiki/w1/wiki.db"));
  assert.equal(
    pages.prepare("SELECT text FROM page").get()?.["text"],
    "only in the write-ahead log",
  );
  pages.close();
  for (
    const path of [
      ...["kernel/lock", "kernel/log", "person/serve.lock", "mcp/trees"],
      "kernel/work/t000000000001/content/link",
    ]
  ) assert.equal(there(join(restored, path)), false, path);
  assert.equal((Deno.statSync(join(restored, "person/secrets.json")).mode ?? 0) & 0o777, 0o600);
  assert.deepEqual(
    [...Deno.readDirSync(join(w.state, "kernel"))].filter(({ name }) => name.startsWith("backup-")),
    [],
  );
});

Deno.test("a state that is there is never written over, and no backup over a file or into the state", async () => {
  await using w = await world();
  const file = join(w.root, "a.backup");
  assert.equal(await w.run("backup", file, "--state", w.state), 0);
  assert.notEqual(await w.run("backup", file, "--state", w.state), 0);
  assert.notEqual(await w.run("backup", join(w.state, "in"), "--state", w.state), 0);
  assert.notEqual(await w.run("restore", file, "--state", w.state), 0);
  assert.ok(there(join(w.state, "person/secrets.json")));
  // Folders alone are no state: a command that looked made them.
  Deno.mkdirSync(join(w.root, "empty/kernel"), { recursive: true });
  assert.equal(await w.run("restore", file, "--state", join(w.root, "empty")), 0);
});

Deno.test("mallory changes, cuts, or adds to a backup: it is refused wherever it was touched", async () => {
  await using w = await world();
  const file = join(w.root, "a.backup");
  assert.equal(await w.run("backup", file, "--state", w.state), 0);
  const bytes = Deno.readFileSync(file);
  for (let n = 0; n < 24; n++) {
    const changed = bytes.slice();
    const at = Math.floor((bytes.length - 1) * n / 23);
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    await refused(w, changed);
  }
  for (const length of [0, 10, 60, 5_000, bytes.length - 100, bytes.length - 1]) {
    await refused(w, bytes.slice(0, length));
  }
  assert.match(await refused(w, Buffer.concat([bytes, Buffer.from("x")])), /behind its end/);
});

/** An archive that is right in itself, of any lines and bytes. */
function archive(
  files: readonly (readonly [path: string, bytes: string, more?: object])[],
): Uint8Array {
  const lines = files.map(([path, bytes, more]) =>
    `${JSON.stringify({ path, mode: 0o600, size: bytes.length, ...more })}\n${bytes}`
  ).join("");
  const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
  const manifest = JSON.stringify({
    manifest: {
      createdAt: 1,
      remit: "1",
      head: "0".repeat(64),
      events: 0,
      receiptKey: "",
      files: files.map(([path, bytes, more]) => ({
        ...{ path, mode: 0o600, size: bytes.length, sha256: sha(bytes) },
        ...more,
      })),
      leftOut: 0,
    },
  });
  const body = `${lines}${manifest}\n`;
  return Buffer.from(
    `{"remit":"backup","version":1,"sealed":null}\n${body}{"sha256":"${sha(body)}"}\n`,
  );
}

Deno.test("mallory makes an archive of her own: nothing leaves the folder, and no foreign log is taken", async () => {
  await using w = await world();
  for (
    const path of [
      ...[
        "../evil",
        "kernel/../../evil",
        "/etc/evil",
        "kernel//x",
        "kernel/./x",
        "models/x",
        "kernel",
      ],
      ...["person/..\\..\\x", "kernel/\0x", ""],
    ]
  ) await refused(w, archive([[path, "x"]]));
  await refused(w, archive([["person/a", "x", { mode: 0o4777 }]]));
  await refused(w, archive([["person/a", "x"], ["person/a", "y"]]));
  await refused(w, archive([["person/a", "x"], ["person/a/b", "y"]]));
  await refused(w, archive([["person/a", "x", { size: 4_000_000_000 }]]));
  assert.match(await refused(w, archive([["person/a", "x"]])), /receipt key is gone/);
  assert.ok(!there(join(w.root, "evil")));
  const file = join(w.root, "a.backup");
  assert.equal(await w.run("backup", file, "--state", w.state), 0);
  const words = await refused(w, Deno.readFileSync(file), ["--head", "f".repeat(64)]);
  assert.match(words, /does not hold/);
});

Deno.test("a sealed backup opens with its passphrase alone, and its pieces are not cut or moved (long)", async () => {
  await using w = await world();
  const file = join(w.root, "a.backup"), word = join(w.root, "word"), wrong = join(w.root, "wrong");
  Deno.writeTextFileSync(word, `${PASSPHRASE}\n`);
  Deno.writeTextFileSync(wrong, "another passphrase");
  Deno.writeTextFileSync(join(w.state, "person/big"), "b".repeat(300_000));
  assert.equal(await w.run("backup", file, "--state", w.state, "--passphrase-file", word), 0);
  const bytes = Deno.readFileSync(file);
  assert.ok(!new TextDecoder().decode(bytes).includes("secrets.json"));
  const flags = ["--passphrase-file", word];
  assert.match(await refused(w, bytes), /give --passphrase-file/);
  assert.match(await refused(w, bytes, ["--passphrase-file", wrong]), /passphrase is another/);
  const head = bytes.indexOf(10, Buffer.from(bytes).indexOf("\n---") + 1) + 1;
  const start = head + 16, piece = 65_536 + 16;
  const pieces = [0, 1, 2].map((n) => bytes.slice(start + n * piece, start + (n + 1) * piece));
  const [a = bytes, b = bytes, c = bytes] = pieces;
  const rest = bytes.slice(start + 3 * piece);
  const opening = bytes.slice(0, start);
  await refused(w, Buffer.concat([opening, b, a, c, rest]), flags);
  await refused(w, Buffer.concat([opening, a, c, rest]), flags);
  await refused(w, Buffer.concat([opening, a, b]), flags);
  await refused(w, Buffer.concat([opening, a, b, c, rest, Buffer.from("x")]), flags);
  // The recipient's salt, the sealed key, the header's digest, the nonce.
  for (const at of [40, 70, head - 10, head + 4]) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    await refused(w, changed, flags);
  }
  const restored = join(w.root, "restored");
  assert.equal(await w.run("restore", file, "--state", restored, ...flags), 0);
  assert.equal(Deno.readTextFileSync(join(restored, "person/big")).length, 300_000);
});

Deno.test("a log that does not hold is not backed up", async () => {
  await using w = await world();
  const db = new DatabaseSync(join(w.state, "kernel/remit.db"));
  db.exec("DROP TRIGGER events_no_update; UPDATE events SET at = at + 1 WHERE seq = 5");
  db.close();
  assert.notEqual(await w.run("backup", join(w.root, "a.backup"), "--state", w.state), 0);
  assert.match(w.powers.screen.lines.join("\n"), /does not hold/);
  assert.ok(!there(join(w.root, "a.backup")));
});
