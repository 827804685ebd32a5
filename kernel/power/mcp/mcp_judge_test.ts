import { deepEqual, equal, match } from "node:assert/strict";
import { LeaseId } from "../../../contracts/authority/mod.ts";
import { makeAccessBook, OTHERS } from "./start.ts";
import { grantBinds, serverEnv } from "../../core/start/mcp_binds.ts";
import { type LeasedGrant, makeMcpJudge } from "./mcp_judge.ts";
import { asImported, type Judge } from "../../core/child/permission_line.ts";

const lease = (n: number): LeaseId => LeaseId.parse(`l${String(n).padStart(12, "0")}`);
const GRANTS: readonly LeasedGrant[] = [
  { right: "read", value: "/home/alice/notes", lease: lease(1) },
  { right: "write", value: "/home/alice/notes/out", lease: lease(2) },
  { right: "read", value: "/home/alice/one.txt", lease: lease(3) },
  { right: "net", value: "api.example.org:443", lease: lease(4) },
];

interface Bench {
  readonly judge: Judge;
  readonly dead: Set<LeaseId>;
  writes: boolean;
}

function bench(): Bench {
  const dead = new Set<LeaseId>();
  const made = { dead, writes: true };
  const judge = asImported(makeMcpJudge({
    ...{ server: "notes", grants: GRANTS, note: () => undefined },
    alive: (id) => !dead.has(id),
    writes: () => made.writes,
  }));
  return Object.assign(made, { judge });
}

const said = (judge: Judge, permission: string, value: string | null): string => {
  const verdict = judge(permission, value);
  return verdict.allow ? "yes" : verdict.reason;
};

Deno.test("what is granted is allowed, what lies beside it or above it is not, and a refusal says how to ask", () => {
  const { judge } = bench();
  for (
    const path of [
      "/home/alice/notes",
      "/home/alice/notes/a",
      "/home/alice/one.txt",
      "/home/alice/notes/out/b",
    ]
  ) {
    equal(said(judge, "read", path), "yes", path);
  }
  for (
    const path of [
      "/home/alice",
      "/home/alice/notesx",
      "/home/alice/one.txt2",
      "/",
      "/etc/passwd",
      "/home/alice/notes/../x",
      "relative",
      "/home//alice/notes",
    ]
  ) {
    match(said(judge, "read", path), /^Cannot/, path);
  }
  equal(
    said(judge, "read", "/etc/passwd"),
    'Cannot read "/etc/passwd": it was not granted; remit mcp grant notes --read "/etc/passwd"',
  );
  // No grant of what nobody may grant is advised.
  match(
    said(judge, "write", "/.remit-inside/dd/npm/x/memory.json"),
    /own code, which nobody changes; tell it/,
  );
  match(said(judge, "write", "/home/alice/notes/a"), /only be read; remit mcp grant notes --write/);
  equal(said(judge, "write", "/home/alice/notes/out/b"), "yes");
  match(
    said(judge, "write", "/home/alice/notes/out.7f.tmp"),
    /may only be read; it replaces the file .* remit mcp grant notes --write "\/home\/alice\/notes"/,
  );
});

Deno.test("everything at once, and full power, is refused whatever was granted", () => {
  const { judge } = bench();
  for (const permission of ["read", "write", "net"]) {
    match(said(judge, permission, null), /^Cannot/);
  }
  for (const permission of ["run", "ffi", "sys", "import"]) {
    for (const value of [null, "/home/alice/notes/a", "username", "networkInterfaces"]) {
      match(said(judge, permission, value), /no imported server has it/);
    }
  }
  for (const path of ["/run/WSL", "/etc/os-release"]) {
    equal(said(judge, "read", path), "yes");
    match(said(judge, "write", path), /^Cannot/);
  }
  for (const fact of ["osRelease", "hostname", "cpus"]) equal(said(judge, "sys", fact), "yes");
  match(said(judge, "forged", "x"), /^Cannot/);
  equal(said(judge, "env", "API_KEY"), "yes");
  equal(said(judge, "env", null), "yes");
});

Deno.test("a lease that has ended denies at once, and only what it was for", () => {
  const { judge, dead } = bench();
  dead.add(lease(1));
  match(said(judge, "read", "/home/alice/notes/a"), /lease was taken back/);
  equal(said(judge, "read", "/home/alice/notes/out/b"), "yes");
  dead.add(lease(4));
  match(said(judge, "net", "api.example.org:443"), /lease was taken back/);
  match(said(judge, "net", "unix:/run/net.sock"), /^Cannot/);
});

Deno.test("a host is allowed by its exact name and port, and the way out only to who has one", () => {
  const { judge } = bench();
  equal(said(judge, "net", "api.example.org:443"), "yes");
  equal(said(judge, "net", "API.example.org:443"), "yes");
  equal(said(judge, "net", "unix:/run/net.sock"), "yes");
  for (
    const host of [
      "api.example.org",
      "api.example.org:80",
      "x.api.example.org:443",
      "127.0.0.1:443",
      "unix:/run/broker.sock",
    ]
  ) {
    match(said(judge, "net", host), /^Cannot/, host);
  }
});

Deno.test("writes wait for a call that may write; its own folder is always its own", () => {
  const bob = bench();
  bob.writes = false;
  match(said(bob.judge, "write", "/home/alice/notes/out/b"), /no call is under way/);
  equal(said(bob.judge, "write", "/private/x"), "yes");
  equal(said(bob.judge, "read", "/.remit-inside/dd/npm/x"), "yes");
  match(said(bob.judge, "write", "/.remit-inside/dd/npm/x"), /^Cannot/);
  match(said(bob.judge, "write", "/private/../.remit-inside/dd/x"), /^Cannot/);
});

Deno.test("a million accesses of a hostile server are counted in five hundred rows and some", () => {
  const book = makeAccessBook();
  for (let i = 0; i < 5_000; i++) book.note("read", `/secret/${i}`, false);
  book.note("net", "x".repeat(10_000), false);
  const list = book.list();
  equal(list.length <= 502, true, String(list.length));
  equal(
    list.find(({ permission, value }) => permission === "read" && value === OTHERS)?.times,
    4_500,
  );
  equal(list.every(({ value }) => (value?.length ?? 0) <= 1_024), true);
});

Deno.test("granted folders are bound the outer before the inner, the writable ones writable", () => {
  deepEqual(grantBinds({ read: ["/a/b/c", "/a"], write: ["/a/b", "/a"] }, ["/state"]), [
    ...["--bind", "/a", "/a", "--bind", "/a/b", "/a/b", "--ro-bind", "/a/b/c", "/a/b/c"],
  ]);
});

Deno.test("a variable that steers a loader is never handed to a server, and ours win", () => {
  for (const name of ["GLIBC_TUNABLES", "BASH_ENV", "MALLOC_TRACE", "GCONV_PATH"]) {
    let refused = false;
    try {
      serverEnv({ [name]: "x" }, {});
    } catch {
      refused = true;
    }
    equal(refused, true, name);
  }
  deepEqual(serverEnv({ A: "1", HOME: "/x" }, { HOME: "/private" }), { A: "1", HOME: "/private" });
});
