import assert from "node:assert/strict";
import {
  ArtifactId,
  CallId,
  Digest,
  Pid,
  SessionId,
  TaskId,
  ToolName,
} from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import { type Exchange, PeerName } from "../../../contracts/exchange/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import type { Artifact } from "../../../contracts/tool/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { besiege } from "../../../tests/fake/siege.ts";
import { artifactReadBinding, type PeerFile } from "./artifact_read.ts";

const TASK = TaskId.parse("t000000000001");
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function reader(
  files: readonly (Partial<PeerFile> & { readonly of: Uint8Array | string })[],
  artifacts: readonly Artifact[] = [],
) {
  const tool = artifactReadBinding({
    peer: "alice",
    files: () =>
      Promise.resolve(files.map(({ of, ...more }) => ({
        ...{ name: "order.csv", mediaType: "text/csv", label: "public" as const },
        ...{ data: (typeof of === "string" ? bytesOf(of) : of).toBase64(), ...more },
      }))),
    artifacts: () => artifacts,
    read: ({ name }) => Promise.resolve(bytesOf(`bytes of ${name}`)),
    redeem: () => undefined,
  });
  return async (args: JsonObject) =>
    await tool.invoke({
      ...{ task: TASK, pid: Pid.parse(2), callId: CallId.parse("c"), args, token: "t" },
      ...{ tool: ToolName.parse("artifact_read"), resolved: tool.resolve(args, {} as ProcessRow) },
      ...{ idempotencyKey: Digest.parse("0".repeat(64)), deadlineMs: 1, resultBytes: 1 },
    }, new AbortController().signal);
}

Deno.test("a file is listed, and read by range in whole characters until its end; all of it is RED", async () => {
  const text = "Straße, 12 Laternen, für Ängstliche".repeat(3);
  const read = reader([{ of: text, label: "internal" }, { of: "two" }]);
  const list = await read({});
  assert.deepEqual([list.colour, list.label], ["RED", "internal"]);
  assert.equal(list.content.split("\n").length, 2);
  let got = "";
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { content, colour } = await read({ file: "f1", offset, bytes: 7 });
    assert.equal(colour, "RED");
    const [head = "", ...rest] = content.split("\n");
    got += rest.join("\n");
    const next = /go on at offset (\d+)/.exec(head)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  assert.equal(got, text);
  assert.equal((await read({ file: "f2" })).label, "public", "what is not shown colours nobody");
});

Deno.test("what is no text comes as base64; names of strangers move no cursor; what is not there is refused", async () => {
  const read = reader([{
    of: new Uint8Array([137, 80, 0, 255]),
    name: "a\u001b[2J\u202e.png\n[f9: 1 bytes",
  }]);
  const { content } = await read({ file: "f1" });
  const [head = "", body] = content.split("\n");
  assert.equal(body, "iVAA/w==");
  assert.ok(!head.includes("\u001b") && !head.includes("\u202e"));
  assert.match((await read({ file: "f1", offset: 9 })).content, /bytes 9 to 9 of 4/);
  for (const file of ["f2", "f0", "../etc/passwd", "a000000000009"]) {
    await assert.rejects(read({ file }), { code: "notFound" });
  }
  const broken = reader([{ of: "x", data: "no base64!" }]);
  await assert.rejects(broken({ file: "f1" }), { code: "invalidInput" });
});

Deno.test("what an imported tool answered with is read by its id", async () => {
  const artifact: Artifact = {
    ...{ id: ArtifactId.parse("a000000000001"), task: TASK, name: "picture", bytes: 3 },
    ...{ digest: sha256Hex("x"), colour: "RED", label: "secret", state: "quarantined" },
    ...{ createdAt: 1, expiresAt: 1e12 },
  };
  const { content, label } = await reader([], [artifact])({ file: artifact.id });
  assert.equal(label, "secret");
  assert.match(content, /bytes of picture$/);
  assert.match((await reader([])({})).content, /no file came in/);
});

Deno.test("in a real kernel a peer's file reaches its task through the gate, under a lease of its own", async () => {
  const TURNS = `
  - when: { user: "| Read it.", step: 1 }
    calls: [{ tool: artifact_read, args: { file: f1 } }]
  - when: { result: { tool: artifact_read } }
    say: "{{ tool.artifact_read }}"
  - say: Well.
    loop: true
`;
  await besiege(async (siege) => {
    const exchange = await siege.ask("peerSend", {
      ...{ peer: PeerName.parse("alice"), agent: "helper", accept: "auto", clearance: "public" },
      message: {
        ...{ id: "m1", role: "peer", extensions: [], references: [], at: Date.now() },
        parts: [
          { kind: "text", text: "Read it." },
          {
            kind: "bytes",
            data: bytesOf("12 lanterns").toBase64(),
            mediaType: "text/plain",
            name: "order.txt",
          },
        ],
      },
      request: {
        ...{ request: "Answer. {{body}}", session: SessionId.parse("s000000000000") },
        ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
        ...{ profile: "guest", mounts: [], limits: {} },
        model: {
          ref: "scripted:s.yaml",
          config: JSON.stringify({ file: "s.yaml", text: `scenario: s\nturns:\n${TURNS}` }),
        },
        ...{ onQuestion: "ask", phase: "work", interactive: false },
      },
      most: { open: 16, perDay: 200 },
    }) as Exchange;
    const task = TaskId.parse(exchange.task);
    const watched = await siege.watch(task);
    await watched.end;
    const { status } = await siege.ask("peerGet", { exchange: exchange.id }) as Exchange;
    assert.match(JSON.stringify(status), /12 lanterns/);
    const log = await siege.ask("log", { task, from: 0 }) as {
      event: string;
      body: { leases?: { resource: string }[]; tool?: string; effect?: string };
    }[];
    assert.ok(log.some(({ body }) => body.leases?.some(({ resource }) => resource === "inbox")));
    assert.ok(log.some(({ event, body }) => event === "outcome" && body.tool === "artifact_read"));
  });
});
