import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";
import { mcpPart, McpServerName } from "../../../contracts/exchange/mod.ts";
import { type FreshCommand, freshCommand } from "../../../cli/_fixture/mcp_command.ts";
import { lockedServer } from "../../../cli/_fixture/mcp_lock.ts";
import { placesOf } from "../../../launch/disk/places.ts";
import { MAX_LOCK_BYTES, type McpLock, openMcpLock, parseMcpLock, parseMcpName } from "./lock.ts";

const open = ({ powers, places }: Pick<FreshCommand, "powers" | "places">): McpLock =>
  openMcpLock({ disk: powers.disk, places, store: powers.mcpStore });
const name = (text: string): McpServerName => McpServerName.parse(text);
const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  return error.code === code;
};

Deno.test("alice's servers are kept beside her remit.yaml, hers alone, and read as they were", () => {
  const command = freshCommand();
  const lock = open(command);
  assert.deepEqual(lock.list(), []);
  const [b, a] = [lockedServer("b"), lockedServer("a")];
  lock.add(b);
  lock.add(a);
  assert.deepEqual(lock.list(), [a, b]);
  assert.equal(dirname(lock.file), dirname(command.places.config));
  assert.equal((Deno.statSync(lock.file).mode ?? 0) & 0o777, 0o600);
  assert.deepEqual(
    lock.change(name("a"), (each) => ({ ...each, state: "revoked" })).state,
    "revoked",
  );
  assert.equal(lock.find(name("a"))?.state, "revoked");
  assert.deepEqual(lock.remove(name("a")).name, "a");
  assert.equal(lock.find(name("a")), undefined);
  assert.throws(() => lock.need(name("a")), fault("notFound", /remit mcp list/));
  assert.throws(() => lock.change(name("a"), (each) => each), fault("notFound", /"a"/));
  assert.throws(() => lock.remove(name("a")), fault("notFound", /"a"/));
  assert.throws(() => lock.add(lockedServer("b")), fault("alreadyExists", /"b"/));
  assert.deepEqual(lock.list(), [b]);
});

Deno.test("what does not fit is not written: the file stays as it was", () => {
  const command = freshCommand();
  const lock = open(command);
  lock.add(lockedServer("a"));
  const before = Deno.readTextFileSync(lock.file);
  const wrong = { state: "nonsense" } as unknown as Partial<ReturnType<typeof lockedServer>>;
  assert.throws(() => lock.change(name("a"), (each) => ({ ...each, ...wrong })));
  assert.throws(() =>
    lock.change(name("a"), () => {
      throw new TypeError("a bug");
    }), TypeError);
  assert.equal(Deno.readTextFileSync(lock.file), before);
  for (let n = 1; n < 64; n++) lock.add(lockedServer(`a${n}`));
  assert.throws(() => lock.add(lockedServer("more")), fault("tooLarge", /64/));
  assert.deepEqual([...Deno.readDirSync(dirname(lock.file))].map((each) => each.name), [
    "remit.lock",
  ]);
});

Deno.test("two commands at once both have their server in it", async () => {
  const command = freshCommand();
  const work = `
    import { openMcpLock } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)};
    import { makeDisk } from ${
    JSON.stringify(new URL("../../../launch/disk/disk_powers.ts", import.meta.url).href)
  };
    import { realMcpStore } from ${
    JSON.stringify(new URL("../../../cli/_fixture/mcp_store.ts", import.meta.url).href)
  };
    import { lockedServer } from ${
    JSON.stringify(new URL("../../../cli/_fixture/mcp_lock.ts", import.meta.url).href)
  };
    const lock = openMcpLock({ disk: makeDisk(), places: { mcpLock: Deno.args[0] },
      store: realMcpStore() });
    for (let n = 0; n < 15; n++) lock.add(lockedServer(Deno.args[1] + n));`;
  const file = join(command.powers.root, "work.ts");
  Deno.writeTextFileSync(file, work);
  const config = join(command.powers.environment.home, "deno.json");
  const ended = await Promise.all(["x", "y"].map((each) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--quiet",
        "--no-check",
        "--config",
        config,
        file,
        command.places.mcpLock,
        each,
      ],
    }).output()
  ));
  assert.ok(ended.every(({ success }) => success), new TextDecoder().decode(ended[0]?.stderr));
  assert.equal(open(command).list().length, 30);
});

Deno.test("a damaged file is a sentence that names the place and repeats nothing", () => {
  const text = (change: (server: Record<string, unknown>) => void): string => {
    const server = JSON.parse(JSON.stringify(lockedServer("a"))) as Record<string, unknown>;
    change(server);
    return JSON.stringify({ version: 1, servers: [server] });
  };
  const cases: readonly (readonly [string, RegExp])[] = [
    ["{", /it is no JSON/],
    ["[]", /it is damaged/],
    ['{"version":2,"servers":[]}', /another version/],
    ['{"version":1,"servers":[],"hush-hush":1}', /it is damaged/],
    [text((server) => server["hush-hush"] = 1), /damaged at "servers\.0"/],
    [text((server) => server["state"] = "hush-hush"), /damaged at "servers\.0\.state"/],
    [
      text((server) => server["grants"] = { read: ["../x"], write: [], net: [] }),
      /servers\.0\.grants\.read\.0/,
    ],
    [text((server) => server["env"] = { LD_PRELOAD: "hush-hush" }), /servers\.0\.env/],
    [JSON.stringify({ version: 1, servers: [lockedServer("a"), lockedServer("a")] }), /damaged/],
  ];
  for (const [written, said] of cases) {
    assert.throws(() => parseMcpLock("/x/remit.lock", written), (error: unknown) => {
      assert.ok(fault("invalidInput", said)(error), written);
      assert.doesNotMatch(String(error), /hush/);
      return true;
    });
  }
});

Deno.test("a file that others may write, and one that is too long, are refused", () => {
  const command = freshCommand();
  const lock = open(command);
  lock.add(lockedServer("a"));
  Deno.chmodSync(lock.file, 0o622);
  assert.throws(() => lock.list(), fault("refused", /others can write it/));
  Deno.chmodSync(lock.file, 0o600);
  Deno.truncateSync(lock.file, MAX_LOCK_BYTES + 1);
  assert.throws(() => lock.list(), fault("tooLarge", /longer/));
});

Deno.test("names take - and _, and no two servers' tools have one name", () => {
  assert.equal(mcpPart(parseMcpName("my-big_server")), "mybigserver");
  for (const wrong of ["a-", "a--b", "a_-b", "-a", "_a", `a${"-b".repeat(12)}`]) {
    assert.throws(() => parseMcpName(wrong), fault("invalidInput", /a-z/), wrong);
  }
  const lock = open(freshCommand());
  lock.add(lockedServer("my-server"));
  assert.throws(
    () => lock.add(lockedServer("myserver")),
    fault("alreadyExists", /"my-server", and their tools would have the same names/),
  );
});

Deno.test("a name is one that can stand in a tool's name", () => {
  assert.equal(parseMcpName("files2"), "files2");
  for (const wrong of ["", "Files", "a b", "2a", "a".repeat(25), "a\n", "ä"]) {
    assert.throws(() => parseMcpName(wrong), fault("invalidInput", /a-z/), wrong);
  }
});

Deno.test("a state that was named has pins of its own; until it writes some it reads those of its operator", () => {
  const command = freshCommand();
  const shared = command.places.mcpLock;
  open(command).add(lockedServer("one"));
  const state = join(command.powers.root, "state");
  const places = placesOf(command.powers.environment, state);
  assert.deepEqual([places.mcpLock, places.sharedMcpLock], [join(state, "remit.lock"), shared]);
  const before = Deno.readTextFileSync(shared);
  const named = open({ ...command, places });
  assert.deepEqual(named.list().map(({ name }) => name), ["one"]);
  named.add(lockedServer("two"));
  assert.deepEqual(named.list().map(({ name }) => name), ["one", "two"]);
  assert.equal(Deno.readTextFileSync(shared), before);
  assert.deepEqual(open(command).list().map(({ name }) => name), ["one"]);
  named.remove(parseMcpName("one"));
  named.remove(parseMcpName("two"));
  assert.deepEqual(named.list(), [], "what was removed there does not come back");
});
