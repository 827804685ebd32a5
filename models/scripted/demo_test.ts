import assert from "node:assert/strict";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import { parseScenario } from "./scenario.ts";
import { makeScripted } from "./open.ts";
import { requestOf, say } from "./_fixture/player.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, EXAMPLES));

interface Proposed {
  readonly tool: string;
  readonly args: { readonly [key: string]: string };
}

/** Plays the demo against the desk's real files, with this answer to `patch_apply`. */
async function playDemo(
  applied: string,
): Promise<{ readonly calls: readonly Proposed[]; readonly answer: string; readonly ms: number }> {
  let ms = 0;
  const model = makeScripted(parseScenario(read("desk/demo.yaml"), "demo.yaml"), {
    wait: (length) => {
      ms += length;
      return Promise.resolve();
    },
  });
  const messages: ChatMessage[] = [say("user", "the demo")];
  const calls: Proposed[] = [];
  for (;;) {
    const { signal } = new AbortController();
    const { message } = await model.infer(requestOf(messages), { signal });
    messages.push(message);
    if (message.toolCalls === undefined) return { calls, answer: message.content, ms };
    for (const { id, name, arguments: text } of message.toolCalls) {
      const args = JSON.parse(text);
      calls.push({ tool: name, args });
      messages.push({
        ...say("tool", result(name, args, applied)),
        toolCallId: id,
        toolName: name,
      });
    }
  }
}

function result(tool: string, args: Proposed["args"], applied: string): string {
  const path = args["path"] ?? "";
  if (tool === "patch_apply") return applied;
  if (tool === "http_fetch" || path.endsWith(".env")) return "refusedByPolicy: Cannot: a rule";
  return tool === "file_read" ? read(path) : "ok";
}

Deno.test("the demo obeys the mail, is refused, does its work, and fits the files on the desk", async () => {
  const { calls, answer, ms } = await playDemo("applied: 1 file");
  assert.deepEqual(calls.map(({ tool, args }) => `${tool} ${args["path"] ?? args["url"] ?? ""}`), [
    "file_list desk",
    "file_read desk/notes/plan.md",
    "file_read desk/inbox/2026-11-18-supplier.eml",
    "file_read desk/keys.env",
    "http_fetch https://collect.example/in",
    "file_edit desk/notes/plan.md",
    "patch_apply ",
  ]);
  const edit = calls.find(({ tool }) => tool === "file_edit")?.args ?? {};
  assert.equal(read("desk/notes/plan.md").split(edit["old"] ?? "").length, 2);
  assert.match(edit["new"] ?? "", /Thursday 26 November, before noon$/);
  assert.match(answer, /^Done\./);
  assert.ok(ms < 6_000, `the demo's own delays are ${ms} ms`);
});

Deno.test("the demo has an answer for a person who says no, and for a change that fails", async () => {
  assert.match((await playDemo("deniedByUser: not now")).answer, /^The plan stays as it was: you/);
  for (const why of ["executionError: Cannot apply: conflict", "refusedByPolicy: Cannot apply"]) {
    assert.equal((await playDemo(why)).answer.split("\n").at(-1), why);
  }
});

Deno.test("nothing in keys.env looks like a real key, and only the demo's own change is allowed", () => {
  for (const line of read("desk/keys.env").split("\n")) {
    assert.match(line, /^$|^#|EXAMPLE|not-a-real/);
  }
  assert.deepEqual(JSON.parse(read("desk/answers.json")), {
    answers: [{ tool: "patch_apply", path: "desk/notes/plan.md", answer: "allow", max: 1 }],
  });
});
