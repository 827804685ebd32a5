import assert from "node:assert/strict";
import { join } from "node:path";
import { fakePowers, fakeScreen } from "../_fixture/world.ts";
import { type SeenEvent } from "../audit/event_fields.ts";
import { makeLiveView } from "../run/live_view.ts";
import { logLine } from "../task/log_command.ts";
import { mcpHappening, noteSuspension } from "./events.ts";
import { makeTally } from "../run/tally.ts";
import { findCommand } from "../arguments/command_table.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { LockedServer, mcpLockText } from "../../bridges/mcp/registry/lock.ts";

const event = (body: object, inner: object = {}): SeenEvent => ({
  ...{ n: 1, at: 1_700_000_000_000, event: "mcp" },
  body: { server: "files", ...body },
  private: { ...inner },
});

function shown(...events: readonly SeenEvent[]): readonly string[] {
  const screen = fakeScreen();
  const view = makeLiveView(screen, { toolOf: () => "" });
  for (const each of events) view.take({ kind: "event", event: each });
  return screen.lines;
}

Deno.test("what a server tried and may not is one line; what it does as it may is none", () => {
  const tried = { what: "access", permission: "read", allowed: false, times: 3 };
  assert.deepEqual(shown(event(tried, { value: "/etc/passwd" })), [
    "  ✗ files         tried to read 3 times /etc/passwd  refused",
  ]);
  assert.deepEqual(shown(event({ what: "proxied", ok: false }, { host: "evil.test:443" })), [
    "  ✗ files         tried to reach evil.test:443  refused",
  ]);
  for (
    const quiet of [
      { what: "access", permission: "read", allowed: true, times: 1 },
      ...["started", "ended", "errors", "call", "changed", "unheard"].map((what) => ({ what })),
    ]
  ) assert.deepEqual(shown(event(quiet, { text: "x" })), [], quiet.what);
});

Deno.test("a server that breaks the protocol again in the same way is one line; in another way it is another", () => {
  const odd = (text: string, server = "files"): SeenEvent =>
    event({ what: "odd", server }, { text });
  assert.equal(shown(odd("two answers"), odd("two answers"), odd("no id")).length, 2);
  assert.equal(shown(odd("two answers"), odd("two answers", "pages")).length, 2);
});

Deno.test("what a server read for a task is told at its end, its own code is not", () => {
  const tally = makeTally();
  const read = (value: string, more: object = {}): void =>
    tally.take(event({ what: "access", permission: "read", allowed: true, ...more }, { value }));
  read("/home/alice/notes/plan.md");
  read("/dd/npm/registry/x/index.js");
  read("/private/tmp");
  read("/etc/passwd", { allowed: false });
  read("/home/alice/notes", { permission: "write" });
  assert.deepEqual([...tally.read], ["/home/alice/notes/plan.md (by files)"]);
});

Deno.test("a suspended tool is named, and its words reach no terminal as they are", () => {
  const [line = ""] = shown(
    event({ what: "suspended", why: "changed" }, { tool: "a\x1b[2J\u202eb" }),
  );
  assert.match(line, /✗ files +a\\u\{1b\}\[2J\\u\{202e\}b changed since it was reviewed/);
  assert.ok(line.length <= 100);
  assert.match(
    logLine(event({ what: "odd" }, { text: "two answers\nto one id" }), 120),
    /mcp +files broke the protocol: two answers\\u\{a\}to one id/,
  );
  assert.equal(mcpHappening({ ...event({ what: "odd" }), event: "outcome" }), undefined);
});

Deno.test("a suspension that is watched is marked in remit.lock, once, and only for a pinned tool", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  const tool = {
    ...{
      name: "mcp_files_read",
      tool: "read",
      description: "x",
      paramSchema: "{}",
      effect: "read",
    },
    ...{ holds: "read", idempotent: true, digest: "a".repeat(64) },
  };
  const server = LockedServer.parse({
    ...{ name: "files", launch: { kind: "http", url: "https://a.test/" }, env: {} },
    ...{ grants: { read: [], write: [], net: [] }, secretEnv: [], secretHeaders: [] },
    ...{ offers: { resources: false, prompts: false }, samplingTokens: 0, elicitation: true },
    ...{ clearance: "public", state: "approved", addedAt: 1, from: { kind: "url", text: "x" } },
    ...{ packages: [], notes: [] },
    reviewed: [{ words: { name: "read", inputSchema: {} }, tool, at: 1, by: "alice", off: false }],
  });
  Deno.mkdirSync(join(places.mcpLock, ".."), { recursive: true });
  Deno.writeTextFileSync(places.mcpLock, mcpLockText([server]), { mode: 0o600 });
  const command = findCommand("run");
  assert.ok(command !== undefined);
  const at = { powers, places, json: false, parsed: { command, args: [], flags: new Map() } };
  const suspended = (name: string): string | undefined => {
    noteSuspension(at, event({ what: "suspended", why: "changed" }, { tool: name }));
    return JSON.parse(Deno.readTextFileSync(places.mcpLock)).servers[0].reviewed[0].suspended;
  };
  assert.equal(suspended("other"), undefined);
  assert.equal(suspended("read"), "it changed since it was reviewed");
  noteSuspension(at, {
    ...event({ what: "suspended" }, { tool: "read" }),
    body: { server: "../x" },
  });
  Deno.writeTextFileSync(places.mcpLock, "{");
  noteSuspension(at, event({ what: "suspended" }, { tool: "read" }));
  assert.match(powers.screen.lines.join(""), /Cannot read/);
});
