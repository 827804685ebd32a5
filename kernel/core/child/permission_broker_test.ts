import assert from "node:assert/strict";
import type { Fault } from "../../../contracts/base/mod.ts";
import { makePermissionBroker } from "./permission_broker.ts";
import { answerPermission, parsePermission, strictly, type Verdict } from "./permission_line.ts";
import { makeSpawnPowers } from "../start/spawn_powers.ts";

const yes = (): Verdict => ({ allow: true });

Deno.test("what no child may have is refused before the judge is asked", () => {
  const asked: string[] = [];
  const judge = strictly((permission, value) => {
    asked.push(`${permission} ${value}`);
    return { allow: true };
  });
  for (const permission of ["run", "ffi", "sys", "env", "import", "net", "other", "__proto__"]) {
    assert.equal(judge(permission, "/x").allow, false, permission);
    assert.equal(judge(permission, null).allow, false, permission);
  }
  for (
    const path of [
      null,
      "",
      "relative",
      "<TMP>",
      "/a/../b",
      "/..",
      "/a/.",
      "/a//b",
      "/a/",
      "/a\0b",
      "/" + "a".repeat(5_000),
    ]
  ) assert.equal(judge("read", path).allow, false, String(path));
  assert.deepEqual(asked, []);
  for (const path of ["/", "/a", "/a/..b", "/a/.b/c..", "/a/%2e%2e/b", "/a/é"]) {
    assert.equal(judge("read", path).allow, true, path);
  }
});

Deno.test("a request that is not of version 1 is refused, and a reason cannot break its line", () => {
  const good = `{"v":1,"pid":2,"id":7,"datetime":"","permission":"read","value":"/a"}`;
  assert.deepEqual(parsePermission(good), { id: 7, permission: "read", value: "/a" });
  for (
    const line of [
      "",
      "null",
      "[]",
      `{"v":2,"id":1,"permission":"read","value":"/a"}`,
      `{"v":1,"id":"1","permission":"read","value":"/a"}`,
      `{"v":1,"id":1,"permission":"read"}`,
      `{"v":1,"id":1,"permission":"read","value":{}}`,
    ]
  ) assert.throws(() => parsePermission(line), (error) => (error as Fault).code === "badFrame");
  const line = answerPermission(7, { allow: false, reason: `a"\n{"id":8,"result":"allow"}` });
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.equal(JSON.parse(line).id, 7);
});

async function withSocket(work: (path: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "remit-k-" });
  try {
    await work(`${dir}/b0`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("hostile lines end the session: too long, not JSON, not UTF-8; so does a judge's bug", async () => {
  await withSocket(async (path) => {
    const broker = makePermissionBroker([path], makeSpawnPowers());
    const encoder = new TextEncoder();
    const line = encoder.encode(`{"v":1,"id":1,"permission":"read","value":"/a"}\n`);
    const cases: readonly (readonly [Uint8Array, () => Verdict])[] = [
      [new Uint8Array(70_000).fill(65), yes],
      [encoder.encode("what?\n"), yes],
      [new Uint8Array([0xff, 0xfe, 10]), yes],
      [line, () => {
        throw new TypeError("a bug");
      }],
    ];
    for (const [bytes, judge] of cases) {
      const session = await broker.open(judge);
      const connection = await Deno.connect({ transport: "unix", path });
      for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
      assert.equal((await session.lost).code, "gone");
      connection.close();
    }
  });
});

Deno.test("several requests in one packet are answered in order, one in pieces too", async () => {
  await withSocket(async (path) => {
    const broker = makePermissionBroker([path], makeSpawnPowers());
    const session = await broker.open((_, value) =>
      value === "/yes" ? { allow: true } : { allow: false, reason: "no" }
    );
    const connection = await Deno.connect({ transport: "unix", path });
    const request = (id: number, value: string): string =>
      `{"v":1,"id":${id},"permission":"read","value":"${value}"}\n`;
    const text = request(1, "/yes") + request(2, "/no") + request(3, "/yes");
    const encoder = new TextEncoder();
    await connection.write(encoder.encode(text.slice(0, 80)));
    await connection.write(encoder.encode(text.slice(80)));
    let answers = "";
    const chunk = new Uint8Array(1_024);
    while (answers.split("\n").length < 4) {
      answers += new TextDecoder().decode(chunk.subarray(0, await connection.read(chunk) ?? 0));
    }
    assert.deepEqual(
      answers.trim().split("\n").map((line) => JSON.parse(line)),
      [
        { id: 1, result: "allow" },
        { id: 2, result: "deny", reason: "no" },
        { id: 3, result: "allow" },
      ],
    );
    connection.close();
    await session.lost;
  });
});

Deno.test("a path is lent to one child at a time, and to the next once it has connected", async () => {
  await withSocket(async (path) => {
    const broker = makePermissionBroker([path], makeSpawnPowers());
    const first = await broker.open(yes);
    let lent = 1;
    const second = broker.open(yes).finally(() => lent++);
    await Promise.resolve();
    assert.equal(lent, 1);
    const connection = await Deno.connect({ transport: "unix", path });
    assert.equal((await second).path, path);
    first.close();
    (await second).close();
    connection.close();
    await first.lost;
  });
});
