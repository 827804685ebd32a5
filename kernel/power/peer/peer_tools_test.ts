import assert from "node:assert/strict";
import {
  ArtifactId,
  CallId,
  Digest,
  Pid,
  TaskId,
  ToolName,
} from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type { PeerArtifact } from "../../../contracts/exchange/mod.ts";
import type {
  GrantedCall,
  ProcessRow,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/mod.ts";
import type { Artifact } from "../../../contracts/tool/mod.ts";
import { peerArtifact } from "../../../agents/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { bindPeerTools } from "./peer_tools.ts";

const TASK = TaskId.parse("t000000000001");
const CALLER = { colour: "RED", label: "public" } as ProcessRow;

function rig() {
  const said: string[] = [];
  const shown: PeerArtifact[] = [];
  const artifacts: Artifact[] = [];
  const bytes = new Map<string, string>();
  const tools = bindPeerTools({
    exchange: {
      ...{ peer: "alice", clearance: "public" },
      files: () => Promise.resolve([]),
      ask: (text) => Promise.resolve(void said.push(`ask ${text}`)),
      answer: (text) => Promise.resolve(void said.push(`answer ${text}`)),
      say: (text, key) => Promise.resolve(void said.push(`say ${text} ${key.slice(0, 4)}`)),
      show: (artifact) => Promise.resolve(void shown.push(artifact)),
    },
    artifacts: () => artifacts,
    read: ({ id }) => Promise.resolve(new TextEncoder().encode(bytes.get(id) ?? "")),
    shown: peerArtifact,
    redeem: () => undefined,
  });
  const tool = (name: string): ToolBinding => {
    const found = tools.find(({ descriptor }) => descriptor.name === name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  return {
    ...{ said, shown, artifacts, bytes, tool },
    put(text: string, more: Partial<Artifact> = {}): Artifact {
      const made: Artifact = {
        ...{ id: ArtifactId.parse("a000000000001"), task: TASK, name: "plan.md" },
        ...{ digest: sha256Hex(text), bytes: text.length, colour: "RED", label: "public" },
        ...{ state: "quarantined", createdAt: 1, expiresAt: 1e12, ...more },
      };
      artifacts.splice(0, Infinity, made);
      bytes.set(made.id, text);
      return made;
    },
    invoke: (name: string, args: JsonObject, resolved?: Resolved) =>
      tool(name).invoke(callOf(name, args, resolved ?? tool(name).resolve(args, CALLER)), NEVER),
  };
}

const NEVER = new AbortController().signal;

function callOf(name: string, args: JsonObject, resolved: Resolved): GrantedCall {
  return {
    ...{ task: TASK, pid: Pid.parse(2), callId: CallId.parse("c1"), tool: ToolName.parse(name) },
    ...{ args, resolved, token: "t", idempotencyKey: Digest.parse("ab".repeat(32)) },
    ...{ deadlineMs: 1_000, resultBytes: 1_000 },
  };
}

Deno.test("each tool names its peer as the sink, with the peer's clearance, under a lease of its own", () => {
  const { tool, put } = rig();
  const { id } = put("1. tidy");
  const args: Readonly<Record<string, JsonObject>> = {
    ...{ peer_ask: { question: "?" }, peer_answer: { text: "!" }, peer_status: { text: "…" } },
    peer_artifact: { name: "plan.md", artifact: id },
  };
  for (const [name, given] of Object.entries(args)) {
    const resolved = tool(name).resolve(given, CALLER);
    assert.deepEqual(resolved.scopes, [{ resource: "peer", right: "use", path: "alice" }]);
    assert.deepEqual([resolved.destination, resolved.clearance], ["peer:alice", "public"]);
    assert.equal(resolved.effect, name === "peer_artifact" ? "mutateLocal" : "stage");
  }
});

Deno.test("an artifact is as confidential as its content, and bound to its digest", () => {
  const { tool, put } = rig();
  const { id, digest } = put("1. tidy", { label: "internal" });
  const resolved = tool("peer_artifact").resolve({ name: "plan.md", artifact: id }, CALLER);
  assert.deepEqual([resolved.label, resolved.digests], ["internal", { artifact: digest }]);
  assert.match(resolved.summary, /show the peer alice artifact a000000000001 \(7 bytes\)/);
});

Deno.test("the bytes that were consented to are the bytes that are sent, or none", async () => {
  const { tool, put, bytes, invoke, shown } = rig();
  const { id } = put("1. tidy");
  const args = { name: "plan.md", artifact: id };
  const resolved = tool("peer_artifact").resolve(args, CALLER);
  put("1. steal");
  await assert.rejects(invoke("peer_artifact", args, resolved), { code: "refused" });
  put("1. tidy");
  bytes.set(id, "1. steal");
  await assert.rejects(invoke("peer_artifact", args, resolved), { code: "refused" });
  put("1. tidy", { label: "secret" });
  await assert.rejects(invoke("peer_artifact", args, resolved), { code: "clearance" });
  assert.deepEqual(shown, []);
  put("1. tidy");
  await invoke("peer_artifact", args, resolved);
  assert.deepEqual(shown, [{
    ...{ id: `p${"ab".repeat(12)}`, name: "plan.md", description: "", artifact: id },
    parts: [
      { kind: "bytes", data: "MS4gdGlkeQ==", mediaType: "text/plain", name: "plan.md" },
    ],
  }]);
});

Deno.test("an artifact of another task, both contents, or neither, are refused before anybody is asked", () => {
  const { tool } = rig();
  const resolve = (args: JsonObject) => () => tool("peer_artifact").resolve(args, CALLER);
  assert.throws(resolve({ name: "x", artifact: "a00000000000z" }), { code: "notFound" });
  assert.throws(resolve({ name: "x" }), { code: "invalidArguments" });
  assert.throws(resolve({ name: "x", text: "y", artifact: "a00000000000z" }), {
    code: "invalidArguments",
  });
  const { summary } = resolve({ name: "\u202egpj.exe\u001b[2J", text: "y" })();
  assert.ok(!summary.includes("\u001b") && !summary.includes("\u202e"));
});

Deno.test("words reach the exchange, a status under the call's own key", async () => {
  const { invoke, said } = rig();
  await invoke("peer_ask", { question: "For how many?" });
  await invoke("peer_answer", { text: "Noon." });
  await invoke("peer_status", { text: "Half." });
  assert.deepEqual(said, ["ask For how many?", "answer Noon.", "say Half. abab"]);
});

Deno.test("a text, JSON and a link are shown as what they are; what is no JSON and no web address is refused", async () => {
  const { invoke, shown } = rig();
  await invoke("peer_artifact", { name: "a", text: "All is well." });
  await invoke("peer_artifact", { name: "b", json: '{ "count": 42 }' });
  await invoke("peer_artifact", { name: "c", link: "https://example.org/report" });
  assert.deepEqual(shown.map(({ parts }) => parts[0]), [
    { kind: "text", text: "All is well." },
    { kind: "data", json: '{"count":42}' },
    { kind: "link", url: "https://example.org/report", name: "c" },
  ]);
  const bad = { code: "invalidArguments" };
  await assert.rejects(invoke("peer_artifact", { name: "b", json: "{" }), bad);
  await assert.rejects(invoke("peer_artifact", { name: "b", json: '{"a":1,"a":2}' }), bad);
  await assert.rejects(invoke("peer_artifact", { name: "c", link: "file:///etc/passwd" }), bad);
  await assert.rejects(invoke("peer_artifact", { name: "c", link: "javascript:alert(1)" }), bad);
});
