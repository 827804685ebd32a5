import assert from "node:assert/strict";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { InboxEntry } from "../../contracts/exchange/mod.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { TASK } from "../_fixture/samples.ts";

const NOW = 1_700_000_000_000;

/** A message of mallory's, who writes what she can into every field. */
function entryOf(more: object = {}, said: object = {}): InboxEntry {
  return InboxEntry.parse({
    ...{ id: "m000000000001", box: "agent:desk", n: 1, colour: "RED", label: "public" },
    ...{ state: "held", why: "a person decides whether it is taken", bytes: 10 },
    ...{ receivedAt: NOW - 60_000, exchange: "x000000000000000000000000" },
    message: {
      ...{ id: "1", sender: "peer:mallory", kind: "handoff", body: "Order\u001b[2J 12 lanterns" },
      ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [], ...said },
    },
    ...more,
  });
}

const listing = (...entries: readonly InboxEntry[]) => ({
  inbox: (body: Json) => {
    const { state } = body as { state?: string };
    return toJson(entries.filter((each) => state === undefined || each.state === state));
  },
  inboxMuted: () => [{ sender: "peer:noisy", why: "8 of its messages are quarantined", since: 1 }],
});

Deno.test("inbox list shows what waits, safely, and how to look at it", async () => {
  const powers = fakePowers({ ops: listing(entryOf(), entryOf({ state: "delivered", n: 2 })) });
  assert.equal(await runCommandLine(["inbox", "list"], powers), 0);
  const out = powers.screen.outs.join("");
  assert.match(out, /MESSAGE +STATE +FROM +TO +KIND/);
  assert.match(out, /m000000000001 +held +peer:mallory +agent:desk +handoff/);
  assert.ok(!out.includes("delivered") && !out.includes("\u001b"));
  assert.ok(powers.screen.lines.some((line) => line.includes("inbox release MESSAGE")));
  assert.ok(powers.screen.lines.some((line) => line.startsWith("muted: peer:noisy")));
  const all = fakePowers({ ops: listing(entryOf(), entryOf({ state: "delivered", n: 2 })) });
  await runCommandLine(["inbox", "list", "--where", "all", "--json"], all);
  assert.equal(JSON.parse(all.screen.outs.join("")).length, 2);
  assert.equal(await runCommandLine(["inbox", "list", "--box", "root"], fakePowers()), 2);
});

Deno.test("inbox show prints every field, and nothing of it moves the cursor or passes for ours", async () => {
  const evil = "\u202e\u001b[1A\nfrom       host";
  const entry = entryOf({ why: undefined }, {
    ...{ body: evil, schema: evil, causalParent: evil, artifactRefs: [evil] },
    requestedActions: [{ tool: evil, arguments: evil, why: evil }],
    requestedAuthority: [{ resource: evil, right: "read", path: evil, why: evil }],
  });
  const powers = fakePowers({ ops: { inboxShow: () => toJson({ ...entry, call: "p2:call_1" }) } });
  assert.equal(await runCommandLine(["inbox", "show", "m000000000001"], powers), 0);
  const lines = powers.screen.outs.join("").split("\n");
  assert.equal(lines.filter((line) => line.startsWith("from ")).length, 1);
  assert.ok(lines.includes("call       p2:call_1"), "during which call it came");
  assert.ok(!/[\u202e]/.test(lines.join("\n")) && !lines.join("").includes("\u001b"));
  assert.ok(lines.some((line) => line.startsWith("it proposes to call ")));
  assert.ok(lines.some((line) => line.endsWith("releasing it grants nothing")));
});

Deno.test("release, dismiss, mute and unmute ask the kernel for exactly that", async () => {
  const task = entryOf({ state: "delivered", task: TASK });
  const ops = {
    inboxShow: () => toJson(entryOf()),
    inboxRelease: () => toJson(task),
    inboxDismiss: () => toJson(entryOf({ state: "dismissed" })),
    inboxMute: () => null,
    inboxUnmute: () => null,
  };
  const run = async (...argv: string[]) => {
    const powers = fakePowers({ ops });
    assert.equal(await runCommandLine(["inbox", ...argv], powers), 0);
    return { out: powers.screen.outs.join(""), asked: powers.kernels_.last?.asked.at(-1) };
  };
  const released = await run("release", "m000000000001");
  assert.deepEqual(released.asked, ["inboxRelease", { id: "m000000000001" }]);
  assert.match(released.out, new RegExp(`it is task ${TASK}`));
  assert.deepEqual((await run("dismiss", "m000000000001", "--say", "no")).asked, [
    "inboxDismiss",
    { id: "m000000000001", why: "no" },
  ]);
  assert.deepEqual((await run("mute", "peer:mallory")).asked?.[0], "inboxMute");
  assert.deepEqual((await run("unmute", "peer:mallory")).asked, ["inboxUnmute", {
    sender: "peer:mallory",
  }]);
  assert.equal(await runCommandLine(["inbox", "mute", "everybody"], fakePowers({ ops })), 2);
});

Deno.test("a reply goes to the peer's exchange, to the sender's box, or nowhere", async () => {
  const reply = async (entry: InboxEntry) => {
    const powers = fakePowers({
      ops: {
        inboxShow: () => toJson(entry),
        peerReply: () => ({ state: "working" }),
        log: () => [],
        inboxPut: () => ({ entry: toJson(entry), duplicate: false }),
      },
    });
    const code = await runCommandLine(["inbox", "reply", "m000000000001", "On Tuesday"], powers);
    return { code, asked: powers.kernels_.last?.asked.at(-1) };
  };
  assert.deepEqual((await reply(entryOf())).asked, [
    "peerReply",
    { exchange: "x000000000000000000000000", text: "On Tuesday" },
  ]);
  const kin = await reply(entryOf({ exchange: undefined }, {
    ...{ id: "7", sender: "agent:lal", senderTask: TASK },
  }));
  const { message, stamp } = kin.asked?.[1] as {
    readonly message: { readonly sender: string; readonly causalParent: string };
    readonly stamp: { readonly box: string };
  };
  assert.deepEqual([message.sender, message.causalParent, stamp.box], [
    "host",
    "7",
    `task:${TASK}`,
  ]);
  const hook = await reply(entryOf({ exchange: undefined }, { sender: "webhook:ci" }));
  assert.equal(hook.code, 2);
});
