/** The product's MCP server over a session of fixtures, with additions that only the conformance suite needs. */
import {
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { makeMcpServer } from "../../bridges/mcp/serve/mod.ts";
import type { Round } from "../../bridges/mcp/serve/consent.ts";
import type { EndingSession } from "../../bridges/mcp/serve/http.ts";
import { makeToolHandlers } from "../../bridges/mcp/serve/tool_handlers.ts";
import { fillPrompt, promptOf } from "../../bridges/mcp/serve/server.ts";
import { ToolDescriptor } from "../../contracts/tool/mod.ts";
import type { ServePrompt, ServeResult } from "../../contracts/wire/mod.ts";
import { fixtureTools, PNG } from "./_fixture_tools.ts";

const READ = (name: string): ToolDescriptor =>
  ToolDescriptor.parse({
    name,
    description: `The fixture ${name}.`,
    interfaceId: "Fixture",
    methodName: "call",
    paramSchema: '{"type":"object","properties":{}}',
    permission: "auto",
    category: "read",
  });

/** Keywords of JSON Schema 2020-12 that must pass unchanged. */
const SCHEMA_2020 = ToolDescriptor.parse({
  ...READ("json_schema_2020_12_tool"),
  paramSchema: JSON.stringify({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  }),
});

// TIMER: the suite requires progress over time.
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const TASK = { colour: "RED", label: "public", task: "t000000000000" } as const;
const ok = (content: string): ServeResult => ({ ...TASK, outcome: "ok", content });

const PROMPTS: readonly ServePrompt[] = [
  {
    name: "test_simple_prompt",
    title: "Simple",
    description: "A simple prompt.",
    arguments: [],
    text: "This is a simple prompt for testing.",
  },
  {
    name: "test_prompt_with_arguments",
    title: "Arguments",
    description: "A prompt with arguments.",
    arguments: [
      { name: "arg1", description: "First test argument", required: true },
      { name: "arg2", description: "Second test argument", required: true },
    ],
    text: "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'",
  },
];

/** A session whose tools use the product's own path: text, error, progress, a changed list. */
export function fixtureSession(): EndingSession {
  const listeners = new Set<() => void>();
  let more = 0;
  return {
    info: { profile: "guest", selfConsent: false, wiki: false, agents: [], prompts: [...PROMPTS] },
    tools: () =>
      Promise.resolve([
        ...["test_simple_text", "test_error_handling", "test_tool_with_progress"].map(READ),
        ...["test_trigger_tool_change"].map(READ),
        SCHEMA_2020,
        ...Array.from({ length: more }, (_, n) => READ(`test_more_${n}`)),
      ]),
    async call({ tool }, { onProgress }): Promise<ServeResult> {
      switch (tool) {
        case "test_simple_text":
          return ok("This is a simple text response for testing.");
        case "test_tool_with_progress":
          for (const step of ["begun", "half", "done"]) {
            onProgress(step);
            await rest(50);
          }
          return ok("done");
        case "test_trigger_tool_change":
          more += 1;
          for (const listener of listeners) listener();
          return ok("changed");
        case "test_error_handling":
          return {
            ...ok(""),
            outcome: "executionError",
            error: "This tool intentionally returns an error for testing",
          };
        default:
          return {
            ...ok(""),
            outcome: "unknownTool",
            error: `Cannot call "${tool}": it is unknown`,
          };
      }
    },
    task: () => Promise.resolve(ok("done")),
    answer: () => Promise.resolve(),
    onTools(listener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onGone: () => undefined,
    end: () => Promise.resolve(),
  };
}

/** Makes the server of one connection or request. */
export function makeFixtureServer(
  session: EndingSession,
  parts: { readonly rounds: RequestStateCodec<Round>; nextCall(): string },
): Server {
  const all = { ...parts, version: "0.0.0", waitMs: 0 };
  const server = makeMcpServer(session, all);
  server.registerCapabilities({
    logging: {},
    completions: {},
    resources: { subscribe: true },
  });
  const fixtures = fixtureTools({
    mint: (call, context) => parts.rounds.mint({ call }, context),
    read: (context) => context.mcpReq.requestState<Round>()?.call,
  });
  const product = makeToolHandlers(session, all, () => server.getClientCapabilities());
  server.setRequestHandler("tools/list", async () => {
    const { tools } = await product.list();
    return {
      tools: [
        ...tools,
        ...Object.keys(fixtures).map((name) => ({
          name,
          description: `The fixture ${name}.`,
          inputSchema: { type: "object" as const },
        })),
      ],
    };
  });
  server.setRequestHandler("tools/call", (request, context) => {
    const fixture = fixtures[request.params.name];
    return fixture === undefined
      ? product.call(request, context)
      : fixture(request.params.arguments ?? {}, context);
  });
  addResources(server);
  addPrompts(server);
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park"], total: 2, hasMore: false },
  }));
  return server;
}

function addResources(server: Server): void {
  const resources = ["test://static-text", "test://static-binary", "test://watched-resource"];
  server.setRequestHandler("resources/list", () => ({
    resources: resources.map((uri) => ({ uri, name: uri, description: "A fixture." })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{
      uriTemplate: "test://template/{id}/data",
      name: "template",
      mimeType: "application/json",
    }],
  }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    if (id !== undefined) {
      const data = { id, templateTest: true, data: `Data for ID: ${id}` };
      return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(data) }] };
    }
    switch (uri) {
      case "test://static-text":
        return {
          contents: [{
            uri,
            mimeType: "text/plain",
            text: "This is the content of the static text resource.",
          }],
        };
      case "test://static-binary":
        return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
      case "test://watched-resource":
        return { contents: [{ uri, mimeType: "text/plain", text: "watched" }] };
      default:
        throw new ResourceNotFoundError(uri);
    }
  });
}

const MORE_PROMPTS = ["test_prompt_with_embedded_resource", "test_prompt_with_image"];
const ASKING_PROMPT = "test_input_required_result_prompt";

function addPrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      ...PROMPTS.map(promptOf),
      ...[...MORE_PROMPTS, ASKING_PROMPT].map((name) => ({ name, description: "A fixture." })),
    ],
  }));
  server.setRequestHandler(
    "prompts/get",
    ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
      switch (name) {
        case "test_prompt_with_embedded_resource":
          return {
            messages: [
              {
                role: "user" as const,
                content: {
                  type: "resource" as const,
                  resource: {
                    uri: given["resourceUri"] ?? "",
                    mimeType: "text/plain",
                    text: "Embedded resource content for testing.",
                  },
                },
              },
              words("Please process the embedded resource above."),
            ],
          };
        case "test_prompt_with_image":
          return {
            messages: [
              {
                role: "user" as const,
                content: { type: "image" as const, data: PNG, mimeType: "image/png" },
              },
              words("Please analyze the image above."),
            ],
          };
        case ASKING_PROMPT: {
          const said = inputResponse(mcpReq.inputResponses, "user_context");
          if (said.kind === "elicit") return { messages: [words(JSON.stringify(said.content))] };
          return inputRequired({
            inputRequests: {
              user_context: inputRequired.elicit({
                message: "What context should the prompt use?",
                requestedSchema: {
                  type: "object",
                  properties: { context: { type: "string" } },
                  required: ["context"],
                },
              }),
            },
          });
        }
        default:
          return fillPrompt(PROMPTS, name, given);
      }
    },
  );
}

function words(text: string): { role: "user"; content: { type: "text"; text: string } } {
  return { role: "user", content: { type: "text", text } };
}
