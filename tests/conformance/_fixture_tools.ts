/** Tools that the official conformance suite calls by name: in no product, over the product's own server. */
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";

type Fixture = (
  args: Readonly<Record<string, unknown>>,
  context: ServerContext,
) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;

/** One red pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** No samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words: string): CallToolResult => ({ content: [{ type: "text", text: words }] });

// TIMER: the suite requires messages one after another.
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const form = (message: string, properties: Record<string, object>, required: string[]) =>
  inputRequired.elicit({
    message,
    // The suite's own schemas, which are wider than the types.
    requestedSchema: { type: "object", properties, required } as never,
  });

const NAME = form("What is your name?", { name: { type: "string" } }, ["name"]);
const CAPITAL = inputRequired.createMessage({
  messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
  maxTokens: 100,
});

/** Asks once, then reports the answer. */
const asking = (
  request: (args: Readonly<Record<string, unknown>>) => ReturnType<typeof form>,
  words: string,
): Fixture =>
(args, { mcpReq }) => {
  const said = inputResponse(mcpReq.inputResponses, "asked");
  if (said.kind === "missing") return inputRequired({ inputRequests: { asked: request(args) } });
  if (said.kind !== "elicit") return text(`${words} ${JSON.stringify(said)}`);
  return text(`${words} action=${said.action}, content=${JSON.stringify(said.content ?? {})}`);
};

function contentOf(context: ServerContext, key: string): Record<string, unknown> | undefined {
  const said = inputResponse(context.mcpReq.inputResponses, key);
  return said.kind === "elicit" && said.action === "accept" ? said.content ?? {} : undefined;
}

/** Seals a round's state; wired to the product's own codec. */
export interface Seal {
  mint(call: string, context: ServerContext): Promise<string>;
  /** The sealed state; undefined in a first round. */
  read(context: ServerContext): string | undefined;
}

/** The fixtures by name. */
export function fixtureTools(seal: Seal): Readonly<Record<string, Fixture>> {
  return {
    test_image_content: () => ({
      content: [{ type: "image", data: PNG, mimeType: "image/png" }],
    }),
    test_audio_content: () => ({
      content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
    }),
    test_embedded_resource: () => ({
      content: [{
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      }],
    }),
    test_multiple_content_types: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
    async test_tool_with_logging(_args, { mcpReq }) {
      await mcpReq.log("info", "Tool execution started");
      await rest(50);
      await mcpReq.log("info", "Tool processing data");
      await rest(50);
      await mcpReq.log("info", "Tool execution completed");
      return text("done");
    },
    async test_logging_tool(_args, { mcpReq }) {
      await mcpReq.log("info", "logged");
      return text("done");
    },
    test_sampling({ prompt }, { mcpReq }) {
      const said = inputResponse(mcpReq.inputResponses, "asked");
      if (said.kind !== "sampling") {
        return inputRequired({
          inputRequests: {
            asked: inputRequired.createMessage({
              messages: [{ role: "user", content: { type: "text", text: String(prompt) } }],
              maxTokens: 100,
            }),
          },
        });
      }
      const { content } = said.result;
      const [first] = Array.isArray(content) ? content : [content];
      return text(`LLM response: ${first?.type === "text" ? first.text : ""}`);
    },
    test_elicitation: asking(
      ({ message }) =>
        form(String(message), {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        }, ["username", "email"]),
      "User response:",
    ),
    test_elicitation_sep1034_defaults: asking(
      () =>
        form("Please review", {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        }, []),
      "Elicitation completed:",
    ),
    test_elicitation_sep1330_enums: asking(
      () =>
        form("Please choose", {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: {
            type: "string",
            oneOf: [
              { const: "value1", title: "First Option" },
              { const: "value2", title: "Second Option" },
              { const: "value3", title: "Third Option" },
            ],
          },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: {
            type: "array",
            items: { type: "string", enum: ["option1", "option2", "option3"] },
          },
          titledMulti: {
            type: "array",
            items: {
              anyOf: [
                { const: "value1", title: "First Choice" },
                { const: "value2", title: "Second Choice" },
                { const: "value3", title: "Third Choice" },
              ],
            },
          },
        }, []),
      "Elicitation completed:",
    ),
    async test_reconnection(_args, { http }) {
      http?.closeSSE?.();
      await rest(100);
      return text("reconnected");
    },
    test_missing_capability: () => inputRequired({ inputRequests: { capital_question: CAPITAL } }),
    async test_streaming_elicitation(_args, { mcpReq }) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: mcpReq._meta?.progressToken ?? "none", progress: 1 },
      });
      return inputRequired({ inputRequests: { user_name: NAME } });
    },
    test_input_required_result_elicitation(_args, context) {
      const name = contentOf(context, "user_name")?.["name"];
      return typeof name === "string"
        ? text(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: NAME } });
    },
    test_input_required_result_sampling(_args, { mcpReq }) {
      const said = inputResponse(mcpReq.inputResponses, "capital_question");
      return said.kind === "sampling"
        ? text(JSON.stringify(said.result.content))
        : inputRequired({ inputRequests: { capital_question: CAPITAL } });
    },
    test_input_required_result_list_roots(_args, { mcpReq }) {
      const said = inputResponse(mcpReq.inputResponses, "client_roots");
      return said.kind === "roots"
        ? text(said.roots.map(({ uri }) => uri).join(" "))
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
    async test_input_required_result_request_state(_args, context) {
      if (contentOf(context, "confirm") !== undefined && seal.read(context) === "state") {
        return text("state-ok");
      }
      return inputRequired({
        inputRequests: { confirm: form("Please confirm", { ok: { type: "boolean" } }, ["ok"]) },
        requestState: await seal.mint("state", context),
      });
    },
    async test_input_required_result_multiple_inputs(_args, context) {
      const { inputResponses } = context.mcpReq;
      const all = ["user_name", "greeting", "client_roots"].every((key) =>
        inputResponse(inputResponses, key).kind !== "missing"
      );
      if (all && seal.read(context) === "many") return text("all answered");
      return inputRequired({
        inputRequests: {
          user_name: NAME,
          greeting: inputRequired.createMessage({
            messages: [{ role: "user", content: { type: "text", text: "Generate a greeting" } }],
            maxTokens: 50,
          }),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await seal.mint("many", context),
      });
    },
    async test_input_required_result_multi_round(_args, context) {
      const round = seal.read(context);
      if (round === "two" && contentOf(context, "step2") !== undefined) return text("three rounds");
      if (round === "one" && contentOf(context, "step1") !== undefined) {
        return inputRequired({
          inputRequests: {
            step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }, [
              "color",
            ]),
          },
          requestState: await seal.mint("two", context),
        });
      }
      return inputRequired({
        inputRequests: {
          step1: form("Step 1: What is your name?", { name: { type: "string" } }, ["name"]),
        },
        requestState: await seal.mint("one", context),
      });
    },
    async test_input_required_result_tampered_state(_args, context) {
      if (seal.read(context) === "sealed") return text("state-ok");
      return inputRequired({
        inputRequests: { confirm: form("Please confirm", { ok: { type: "boolean" } }, ["ok"]) },
        requestState: await seal.mint("sealed", context),
      });
    },
    test_input_required_result_capabilities(_args, { mcpReq }) {
      const envelope: Record<string, unknown> = Object(mcpReq.envelope);
      const can: Record<string, unknown> = Object(
        envelope["io.modelcontextprotocol/clientCapabilities"],
      );
      return inputRequired({
        inputRequests: {
          ...("elicitation" in can ? { user_name: NAME } : {}),
          ...("sampling" in can ? { capital_question: CAPITAL } : {}),
        },
      });
    },
  };
}
