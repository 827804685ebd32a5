/**
 * Serves Remit as an agent of the Agent Client Protocol, version 1: sessions, prompts, questions,
 * modes and models. The host does the work of a session; this code holds nothing. Used by cli/acp/.
 * @module
 */
import {
  agent,
  type AgentConnection,
  type AgentContext,
  type ContentBlock,
  type NewSessionRequest,
  type PermissionOption,
  RequestError,
  type SessionConfigOption,
  type SessionInfo,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
  type Stream,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";

/** A question about one call, for the person at the editor. */
export interface EditorQuestion {
  readonly toolCall: ToolCallUpdate;
  readonly options: readonly PermissionOption[];
}

/** A session's way to its editor. */
export interface EditorVoice {
  update(update: SessionUpdate): Promise<void>;
  /** The chosen option; undefined when the editor cancelled. Rejects when `signal` aborts. */
  ask(question: EditorQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** The editor's text of a file, by absolute path; undefined without one. Untrusted. */
  text(path: string): Promise<string | undefined>;
}

/** A session of the host. */
export interface HostSession {
  readonly id: string;
  readonly mode: () => "plan" | "work";
  readonly model: () => string;
  /** Models to choose from, the current one among them. */
  readonly models: () => readonly string[];
  setMode(mode: "plan" | "work"): Promise<void>;
  setModel(model: string): Promise<void>;
  /** Runs a turn. Rejects with a fault. */
  prompt(text: string, voice: EditorVoice): Promise<StopReason>;
  /** Cancels the current turn; its prompt ends with `cancelled`. */
  cancel(): Promise<void>;
  /** Sends all earlier messages, in order. */
  replay(voice: EditorVoice): Promise<void>;
  /** Closes the session; the task stays. */
  close(): Promise<void>;
}

/** The host of all sessions. Each method rejects with a fault. */
export interface SessionHost {
  readonly version: string;
  create(request: Pick<NewSessionRequest, "cwd" | "mcpServers">): Promise<HostSession>;
  take(id: string, request: Pick<NewSessionRequest, "cwd" | "mcpServers">): Promise<HostSession>;
  list(cwd: string | undefined): Promise<readonly SessionInfo[]>;
}

const COMMANDS = [
  { name: "plan", description: "read and propose, change nothing" },
  { name: "work", description: "work on" },
  { name: "diff", description: "what is staged and not applied" },
  { name: "undo", description: "take back what this session applied" },
  { name: "model", description: "another model", input: { hint: "REF" } },
];
const MODES: SessionModeState["availableModes"] = [
  { id: "work", name: "Work", description: "stages changes, and asks before they are applied" },
  { id: "plan", name: "Plan", description: "reads and proposes, changes nothing" },
];
/** UTF-16 units of a prompt, at most: the limit of a task's request. */
const MAX_PROMPT = 200_000;

/** JSON-RPC codes of faults; -32603 for all others. */
const CODES = {
  invalidInput: -32602,
  notFound: -32002,
  badFrame: -32600,
} as const satisfies Partial<Record<FaultCode, number>>;

function asError(error: unknown): Error {
  if (error instanceof RequestError) return error;
  if (!(error instanceof Fault)) {
    return new RequestError(-32603, "Remit failed: this is a bug");
  }
  const code = Object.hasOwn(CODES, error.code) ? CODES[error.code as keyof typeof CODES] : -32603;
  return new RequestError(code, error.message, { code: error.code });
}

/** Serves `host` over a stream until it closes. */
export function serveAcp(host: SessionHost, stream: Stream): AgentConnection {
  const sessions = new Map<
    string,
    { readonly session: HostSession; turn: Promise<void> | undefined }
  >();

  /** Whether the editor reads files for us, which shows unsaved changes. */
  let reads = false;

  const faults = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asError(error);
    }
  };
  const need = (id: string) => {
    const found = sessions.get(id);
    if (found !== undefined) return found;
    throw new Fault(
      "notFound",
      `Cannot find session "${id.slice(0, 64)}": open it with session/new or session/load`,
    );
  };
  const optionsOf = (session: HostSession): SessionConfigOption[] => [{
    ...{ id: "mode", name: "Mode", category: "mode", type: "select", currentValue: session.mode() },
    options: MODES.map(({ id, name }) => ({ value: id, name })),
  }, {
    ...{
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: session.model(),
    },
    options: session.models().map((name) => ({ value: name, name })),
  }];
  const stateOf = (session: HostSession) => ({
    modes: { currentModeId: session.mode(), availableModes: MODES },
    configOptions: optionsOf(session),
  });
  const keep = async (session: HostSession): Promise<void> => {
    await sessions.get(session.id)?.session.close();
    sessions.set(session.id, { session, turn: undefined });
  };
  const voiceOf = (client: AgentContext, sessionId: string): EditorVoice => ({
    update: (update) => client.notify("session/update", { sessionId, update }),
    async text(path) {
      if (!reads) return undefined;
      const read = await client.request("fs/read_text_file", { sessionId, path })
        // A file that the editor cannot read has no unsaved changes.
        .catch(() => undefined);
      return typeof read?.content === "string" ? read.content : undefined;
    },
    async ask({ toolCall, options }, signal) {
      const asked = client.request("session/request_permission", {
        sessionId,
        toolCall,
        options: [...options],
      });
      const gone = Promise.withResolvers<never>();
      const abort = (): void =>
        gone.reject(new Fault("cancelled", "Cannot wait: the question is closed"));
      signal.addEventListener("abort", abort, { once: true });
      try {
        const { outcome } = await Promise.race([asked, gone.promise]);
        if (outcome.outcome !== "selected") return undefined;
        // TRUST: the editor must name an offered option.
        return options.some(({ optionId }) => optionId === outcome.optionId)
          ? outcome.optionId
          : undefined;
      } finally {
        signal.removeEventListener("abort", abort);
        gone.promise.catch(() => undefined);
        asked.catch(() => undefined);
      }
    },
  });
  const offer = (client: AgentContext, id: string): void => {
    void voiceOf(client, id).update({
      sessionUpdate: "available_commands_update",
      availableCommands: COMMANDS,
    }).catch(() => undefined);
  };
  const moved = async (client: AgentContext, session: HostSession): Promise<void> => {
    const { update } = voiceOf(client, session.id);
    await update({ sessionUpdate: "current_mode_update", currentModeId: session.mode() });
  };

  const app = agent()
    .onRequest("initialize", ({ params }) => {
      reads = params.clientCapabilities?.fs?.readTextFile === true;
      return {
        protocolVersion: 1,
        agentInfo: { name: "remit", title: "Remit", version: host.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: false, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    })
    .onRequest("authenticate", () => ({}))
    .onRequest("session/new", ({ params, client }) =>
      faults(async () => {
        const session = await host.create(params);
        await keep(session);
        offer(client, session.id);
        return { sessionId: session.id, ...stateOf(session) };
      }))
    .onRequest("session/load", ({ params, client }) =>
      faults(async () => {
        const session = await host.take(params.sessionId, params);
        await keep(session);
        // The protocol wants all earlier messages before the answer.
        await session.replay(voiceOf(client, session.id));
        offer(client, session.id);
        return stateOf(session);
      }))
    .onRequest("session/resume", ({ params }) =>
      faults(async () => {
        const session = await host.take(params.sessionId, {
          cwd: params.cwd,
          mcpServers: params.mcpServers ?? [],
        });
        await keep(session);
        return stateOf(session);
      }))
    .onRequest(
      "session/list",
      ({ params }) =>
        faults(async () => ({ sessions: [...await host.list(params.cwd ?? undefined)] })),
    )
    .onRequest("session/close", ({ params }) =>
      faults(async () => {
        const { session, turn } = need(params.sessionId);
        if (turn !== undefined) await session.cancel();
        await turn;
        sessions.delete(params.sessionId);
        await session.close();
        return {};
      }))
    .onRequest("session/set_mode", ({ params, client }) =>
      faults(async () => {
        const { session } = need(params.sessionId);
        await session.setMode(modeOf(params.modeId));
        await moved(client, session);
        return {};
      }))
    .onRequest("session/set_config_option", ({ params, client }) =>
      faults(async () => {
        const { session } = need(params.sessionId);
        const value = String(params.value);
        if (params.configId === "mode") {
          await session.setMode(modeOf(value));
          await moved(client, session);
        } else if (params.configId === "model") await session.setModel(value);
        else {
          throw new Fault(
            "invalidInput",
            `Cannot set "${params.configId.slice(0, 64)}": there are mode and model`,
          );
        }
        return { configOptions: optionsOf(session) };
      }))
    .onRequest("session/prompt", ({ params, client }) =>
      faults(async () => {
        const kept = need(params.sessionId);
        if (kept.turn !== undefined) {
          throw new Fault(
            "invalidInput",
            "Cannot take a prompt: one is under way in this session; cancel it first",
          );
        }
        const done = Promise.withResolvers<void>();
        kept.turn = done.promise;
        const voice = voiceOf(client, params.sessionId);
        try {
          return { stopReason: await kept.session.prompt(textOf(params.prompt), voice) };
        } finally {
          kept.turn = undefined;
          done.resolve();
        }
      }))
    .onNotification("session/cancel", async ({ params }) => {
      const kept = sessions.get(params.sessionId);
      if (kept?.turn !== undefined) await kept.session.cancel();
    });
  const connection = app.connect(stream);
  void connection.closed.finally(async () => {
    await Promise.all([...sessions.values()].map(({ session }) => session.close()));
    sessions.clear();
  });
  return connection;
}

function modeOf(id: string): "plan" | "work" {
  if (id === "plan" || id === "work") return id;
  throw new Fault(
    "invalidInput",
    `Cannot take the mode "${id.slice(0, 64)}": there are plan and work`,
  );
}

/** The text of a prompt. Throws `invalidInput` for an unsupported kind of content. */
function textOf(prompt: readonly ContentBlock[]): string {
  const parts = prompt.map((block) => {
    switch (block.type) {
      case "text":
        return block.text;
      case "resource_link":
        return `[${block.name}](${block.uri})`;
      case "resource": {
        const { resource } = block;
        if (!("text" in resource)) {
          throw new Fault(
            "invalidInput",
            `Cannot take the attachment ${resource.uri.slice(0, 200)}: it is no text`,
          );
        }
        return `\n${resource.uri}:\n\`\`\`\n${resource.text}\n\`\`\`\n`;
      }
      default:
        throw new Fault(
          "invalidInput",
          `Cannot take a prompt with ${block.type}: only text and attached texts`,
        );
    }
  });
  const text = parts.join("");
  if (text.trim() === "") throw new Fault("invalidInput", "Cannot take a prompt: it is empty");
  if (text.length <= MAX_PROMPT) return text;
  throw new Fault(
    "invalidInput",
    `Cannot take a prompt: it is longer than ${MAX_PROMPT} characters`,
  );
}
