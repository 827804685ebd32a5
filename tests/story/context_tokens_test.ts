/** bob's pages are Chinese: his model counts four times the tokens that anybody here would guess. */
import assert from "node:assert/strict";
import { streamOpenai } from "../../models/_fixture/providers/openai.ts";
import { serveLoopback } from "../../models/_fixture/providers/server.ts";
import type { Said } from "../../models/_fixture/providers/mod.ts";
import { configured, eventsOf, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";

const WINDOW = 16_000;
const PAGES = 14;
const AGENT = `agents:
  reader: { name: reader, persona: You read., labels: {}, env: {}, capabilities: [{ tool: file_read }], limits: { outputTokens: 512 } }
`;

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** What the model does with a conversation: shortens it, or reads the next page. */
function answerTo(text: string, tokens: number): Said {
  const usage = { input: tokens, output: 10 };
  if (text.includes("You shorten the older part")) return { ...says("读过了几页。"), usage };
  const read = [...text.matchAll(/第(\d+)页/g)].map(([, page]) => Number(page));
  const next = Math.max(0, ...read) + 1;
  if (next > PAGES) return { ...says("都读完了。"), usage };
  const args = JSON.stringify({ path: `book/${next}.txt` });
  return { calls: [{ id: `call${next}`, name: "file_read", pieces: [args] }], usage };
}

Deno.test("bob's Chinese book would have ended his task at the end of a window that was believed to be a third full", async () => {
  await onMachine(async (machine) => {
    const sizes: number[] = [];
    await using model = serveLoopback(({ body }) => {
      const { messages }: Asked = JSON.parse(body);
      const text = messages.map(({ content }) => String(content)).join("\n");
      // One token a character.
      sizes.push(text.length);
      if (text.length > WINDOW) {
        const error = { message: "too long", code: "context_length_exceeded", type: "invalid" };
        return { status: 400, pieces: [JSON.stringify({ error })] };
      }
      return {
        headers: { "content-type": "text/event-stream" },
        pieces: streamOpenai(answerTo(text, text.length), {
          fields: { model: "fat", stream_options: { include_usage: true } },
          variant: "llamacpp",
        }),
      };
    });
    const ref = `openai:fat@${model.origin}/v1`;
    await configured(
      machine,
      `${AGENT}models: { fat: { ref: "${ref}", contextTokens: ${WINDOW} } }\n`,
    );
    for (let page = 1; page <= PAGES; page++) {
      await machine.write(
        `book/${page}.txt`,
        `第${page}页\n${"这一页讲的是茶叶的历史。".repeat(150)}\n`,
      );
    }
    const words = ["run", "-p", "读", "--mount", `book=${machine.dir}/book`, "--agent", "reader"];
    const done = await machine.remit([...words, "--model", "fat", "--json"]);
    assert.equal(done.code, 0, `${done.stderr}\n${done.stdout}`);
    const { answer, task } = readRun(done.stdout);
    assert.equal(answer, "都读完了。");
    assert.ok(Math.max(...sizes) <= WINDOW, "the provider never had to refuse");
    const events = await eventsOf(machine, task);
    const told = events.filter(({ signal }) => signal === "SIGCTXPRESSURE");
    const made = events.filter(({ event }) => event === "contextCompacted");
    assert.ok(
      told.length >= 1 && made.length === told.length,
      "told first, and then room was made",
    );
    for (const { used, limit } of told) {
      assert.ok(
        Number(used) >= 0.8 * WINDOW && Number(used) <= WINDOW && limit === WINDOW,
        `${used}`,
      );
    }
  });
});
