/** A server with one of everything. Each tool's name says what the tool does. @module */
import {
  acceptedContent,
  completable,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import * as z from "zod";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Makes the server; two servers share no state. */
export function makeEcho(): McpServer {
  const server = new McpServer({ name: "echo", version: "1.2.3", title: "Echo" }, {
    instructions: "Say it, and hear it.",
    capabilities: { logging: {}, completions: {} },
  });
  addTools(server);
  addAsking(server);
  addReading(server);
  return server;
}

/** Writes to the error stream: the standard output belongs to the protocol. */
function say(what: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${what}\n`));
}

function addTools(server: McpServer): void {
  server.registerTool("echo", {
    title: "Echo",
    description: "Says what it was told.",
    inputSchema: z.object({ text: z.string() }),
    annotations: { readOnlyHint: true, idempotentHint: true },
  }, ({ text }) => ({ content: [{ type: "text", text }] }));

  server.registerTool("add", {
    description: "Adds two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }));

  server.registerTool("fail", { description: "Fails." }, () => ({
    isError: true,
    content: [{ type: "text", text: "It failed, as it does." }],
  }));

  server.registerTool("picture", { description: "Shows one part of each kind." }, () => ({
    content: [
      { type: "text", text: "a pixel" },
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
      {
        type: "resource",
        resource: { uri: "echo://note", mimeType: "text/plain", text: "a note" },
      },
      { type: "resource", resource: { uri: "echo://blob", blob: "AAEC" } },
      { type: "resource_link", uri: "https://example.com/far", name: "far", mimeType: "text/html" },
    ],
  }));

  server.registerTool("steps", {
    description: "Reports each of its steps.",
    inputSchema: z.object({ count: z.number() }),
  }, async ({ count }, { mcpReq: { _meta, notify } }) => {
    const progressToken = _meta?.progressToken;
    for (let step = 1; step <= count && progressToken !== undefined; step++) {
      const params = { progressToken, progress: step, total: count, message: `step ${step}` };
      await notify({ method: "notifications/progress", params });
    }
    return { content: [{ type: "text", text: `${count} steps` }] };
  });

  server.registerTool("wait", { description: "Waits until it is cancelled." }, async (context) => {
    const { signal, _meta, notify } = context.mcpReq;
    // Over HTTP this begins the answer, whose end the server then notices.
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 0, message: "waiting" };
      await notify({ method: "notifications/progress", params });
    }
    say("waiting");
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    say("cancelled");
    return { content: [] };
  });

  server.registerTool("log", {
    description: "Writes to the log.",
    inputSchema: z.object({ text: z.string() }),
  }, async ({ text }, { mcpReq }) => {
    await mcpReq.log("warning", text, "echo");
    return { content: [] };
  });

  server.registerTool("grow", { description: "Gets another tool." }, () => {
    server.registerTool("grown", { description: "Was not there." }, () => ({ content: [] }));
    return { content: [] };
  });
}

function addAsking(server: McpServer): void {
  const form = z.object({ name: z.string(), age: z.int().min(0).max(150).optional() });
  server.registerTool("ask", { description: "Asks a person for a name." }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "who");
    if (answer.kind === "missing") {
      const who = inputRequired.elicit({ message: "Who are you?", requestedSchema: form });
      return inputRequired({ inputRequests: { who } });
    }
    const content = acceptedContent(mcpReq.inputResponses, "who");
    return { content: [{ type: "text", text: JSON.stringify(content ?? answer) }] };
  });

  server.registerTool("visit", { description: "Asks a person to visit." }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "visit");
    if (answer.kind === "missing") {
      const visit = inputRequired.elicitUrl({
        message: "Please sign in.",
        url: "https://example.com/sign-in",
      });
      return inputRequired({ inputRequests: { visit } });
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });

  server.registerTool("think", { description: "Asks a model." }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "thought");
    if (answer.kind === "missing") {
      const thought = inputRequired.createMessage({
        systemPrompt: "Be short.",
        messages: [{ role: "user", content: { type: "text", text: "What is it?" } }],
        maxTokens: 100,
      });
      return inputRequired({ inputRequests: { thought } });
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });

  server.registerTool("roots", { description: "Says what folders it has." }, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "roots");
    if (answer.kind === "missing") {
      return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });
}

function addReading(server: McpServer): void {
  server.registerResource("note", "echo://note", {
    description: "A note.",
    mimeType: "text/plain",
  }, () => ({ contents: [{ uri: "echo://note", mimeType: "text/plain", text: "a note" }] }));
  server.registerResource("bytes", "echo://bytes", { mimeType: "application/x-bytes" }, () => ({
    contents: [{ uri: "echo://bytes", mimeType: "application/x-bytes", blob: "AAEC" }],
  }));
  const template = new ResourceTemplate("echo://item/{number}", {
    list: undefined,
    complete: { number: (value) => ["1", "12", "123"].filter((all) => all.startsWith(value)) },
  });
  server.registerResource("item", template, { description: "An item." }, (uri, { number }) => ({
    contents: [{ uri: uri.href, text: `item ${number}` }],
  }));
  server.registerPrompt("greet", {
    title: "Greet",
    description: "Greets somebody.",
    argsSchema: z.object({
      name: completable(
        z.string().describe("Whom"),
        (value) => ["alice", "alan"].filter((all) => all.startsWith(value)),
      ),
    }),
  }, ({ name }) => ({
    messages: [
      { role: "user", content: { type: "text", text: `Greet ${name}.` } },
      { role: "assistant", content: { type: "text", text: `Hello, ${name}.` } },
    ],
  }));
}
