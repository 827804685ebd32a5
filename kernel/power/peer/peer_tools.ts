/**
 * Tools of a task in an exchange, to talk to its peer: each is a sink with the peer's clearance.
 * Only tasks of an exchange have them. Wired in kernel/main_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { ownTool } from "../../core/process/own_tool.ts";
import { cleared, type Label, mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import type { PeerArtifact } from "../../../contracts/exchange/exchange.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import type { PeerFile } from "./artifact_read.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { displayText } from "../../../text/mod.ts";

/** An exchange as its task uses it: see agents/. */
export interface PeerExchange {
  readonly peer: string;
  readonly clearance: Label;
  ask(question: string): Promise<void>;
  answer(text: string): Promise<void>;
  say(text: string, key: string): Promise<void>;
  show(artifact: PeerArtifact): Promise<void>;
  files(delivered: ReadonlySet<string>): Promise<readonly PeerFile[]>;
}

/** The exchange, and the task's outbox. */
export interface PeerToolsParts {
  readonly exchange: PeerExchange;
  /** The artifacts in the task's outbox. */
  artifacts(): readonly Artifact[];
  /** The bytes of an artifact, checked against its digest. */
  read(artifact: Artifact): Promise<Uint8Array>;
  /** Makes the artifact for the peer. Throws `tooLarge`, `invalidArguments`. */
  shown(
    made: {
      readonly id: string;
      readonly name: string;
      readonly description: string;
      readonly shown:
        | { readonly kind: "text"; readonly text: string }
        | { readonly kind: "json"; readonly json: string }
        | { readonly kind: "link"; readonly url: string }
        | { readonly kind: "bytes"; readonly bytes: Uint8Array };
      readonly artifact?: Artifact["id"] | undefined;
    },
  ): PeerArtifact;
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
}

/** UTF-16 units of a question or answer, of a status, and of text shown as an artifact. */
const MAX_WORDS = 32_768, MAX_STATUS = 2_000, MAX_TEXT = 262_144;

const text = (maxLength: number, description: string): JsonObject => ({
  ...{ type: "string", minLength: 1, maxLength, description },
});

const draft = (
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): ToolDescriptor =>
  ownTool({
    ...{ name, description, properties, required },
    ...{ interfaceId: "AgentPeer", methodName: name.slice("peer_".length) },
    permission: name === "peer_artifact" ? "consent" : "auto",
    category: name === "peer_artifact" ? "mutate" : "agent",
  });

const ASK = draft(
  "peer_ask",
  "Asks the peer whose message you work on. The question is put when your turn ends, and what it " +
    "answers comes as a message of your next turn: end your turn after this call.",
  { question: text(MAX_WORDS, "What you need to know.") },
  ["question"],
);
const ANSWER = draft(
  "peer_answer",
  "Answers the peer with this text alone and ends the exchange when your turn ends. Without it " +
    "your last words are the answer, and the peer is told of a task that is done.",
  { text: text(MAX_WORDS, "The whole answer.") },
  ["text"],
);
const STATUS_TOOL = draft(
  "peer_status",
  "Tells the peer in a sentence how far you are, while you work.",
  { text: text(MAX_STATUS, "One sentence.") },
  ["text"],
);
const ARTIFACT = draft(
  "peer_artifact",
  "Shows something to the peer that you made for it: one of a text, JSON, a link, or an artifact " +
    "of your outbox (outbox_publish puts a file there). A person is asked first.",
  {
    name: text(200, "What it is called, like a file's name."),
    text: text(MAX_TEXT, "Its text; or:"),
    json: text(MAX_TEXT, "JSON, as text; or:"),
    link: text(4_096, "An http or https address, which the peer may follow; or:"),
    artifact: text(120, "The name or id of an artifact in your outbox."),
    description: text(1_000, "What it is, in a sentence."),
  },
  ["name"],
);

/** The descriptors of all peer tools. */
export const PEER_TOOLS: readonly ToolDescriptor[] = Object.freeze([
  ...[ANSWER, ARTIFACT, ASK, STATUS_TOOL],
]);

/** Binds the tools to a task of an exchange. */
export function bindPeerTools(parts: PeerToolsParts): readonly ToolBinding[] {
  const { exchange, redeem } = parts;
  const { peer, clearance } = exchange;

  const resolved = (
    more: Pick<Resolved, "effect" | "summary"> & Partial<Resolved>,
  ): Resolved => ({
    scopes: [{ resource: "peer", right: "use", path: peer }],
    ...{ destination: `peer:${peer}`, clearance, digests: {}, idempotent: true },
    ...more,
  });

  /** A tool that sends text. */
  const words = (
    descriptor: ToolDescriptor,
    key: string,
    more: {
      readonly summary: string;
      readonly done: string;
      say(words: string, call: GrantedCall): Promise<void>;
    },
  ): ToolBinding =>
    Object.freeze<ToolBinding>({
      ...{ descriptor, effect: "stage", deadlineMs: 10_000, resultBytes: 4_096 },
      resolve: () => resolved({ effect: "stage", summary: more.summary }),
      async invoke(call): Promise<PowerResult> {
        redeem(call);
        await more.say(textIn(call.args, key), call);
        return resultOf(more.done);
      },
    });

  const made = (args: JsonObject): Artifact | undefined => {
    const id = args["artifact"];
    if (CONTENTS.filter((each) => args[each] !== undefined).length !== 1) {
      const names = CONTENTS.map((each) => `"${each}"`).join(", ");
      throw new Fault("invalidArguments", `Cannot show it: give exactly one of ${names}`);
    }
    if (id === undefined) return undefined;
    // outbox_publish returns no id, so a name means its newest artifact.
    const found = parts.artifacts().findLast((each) => each.id === id || each.name === id);
    if (found === undefined) {
      throw new Fault(
        "notFound",
        `Cannot show ${JSON.stringify(id)}: your outbox has no such artifact`,
      );
    }
    return found;
  };

  const artifact = Object.freeze<ToolBinding>({
    ...{ descriptor: ARTIFACT, effect: "mutateLocal", deadlineMs: 30_000, resultBytes: 4_096 },
    resolve(args: JsonObject, caller: ProcessRow): Resolved {
      const found = made(args);
      const name = displayText(textIn(args, "name"), { max: 200 });
      const what = found === undefined
        ? wordsOf(args)
        : `artifact ${found.id} (${found.bytes} bytes)`;
      return resolved({
        effect: "mutateLocal",
        digests: found === undefined ? {} : { artifact: found.digest },
        colour: mixColour(caller.colour, found?.colour ?? "BLUE"),
        label: mixLabel(caller.label, found?.label ?? "public"),
        summary: `show the peer ${peer} ${what} as ${JSON.stringify(name)}`,
      });
    },
    async invoke(call): Promise<PowerResult> {
      redeem(call);
      const found = made(call.args);
      // INVARIANT: the decided bytes are the sent bytes (test: "the bytes that were consented to").
      if (found !== undefined && found.digest !== call.resolved.digests["artifact"]) {
        throw new Fault("refused", "Cannot show an artifact: it is not the one that was decided");
      }
      const bytes = found === undefined ? undefined : await parts.read(found);
      if (found !== undefined && bytes !== undefined && sha256Hex(bytes) !== found.digest) {
        throw new Fault("refused", "Cannot show an artifact: its content is not what it was");
      }
      if (found !== undefined && !cleared(found.label, clearance)) {
        throw new Fault("clearance", `Cannot show an artifact to ${peer}: it is ${found.label}`);
      }
      await exchange.show(parts.shown({
        // A call that is repeated after a crash shows nothing twice.
        id: `p${call.idempotencyKey.slice(0, 24)}`,
        name: textIn(call.args, "name"),
        description: String(call.args["description"] ?? ""),
        ...(found === undefined ? {} : { artifact: found.id, label: found.label }),
        shown: bytes === undefined ? shownOf(call.args) : { kind: "bytes", bytes },
      }));
      return resultOf("The peer can see it now.");
    },
  });

  return [
    words(ASK, "question", {
      summary: `ask the peer ${peer} when this turn ends`,
      done: "Your question is put to the peer when your turn ends. End it now.",
      say: (question) => exchange.ask(question),
    }),
    words(ANSWER, "text", {
      summary: `answer the peer ${peer}, and end the exchange, when this turn ends`,
      done: "This is the answer that the peer gets when your turn ends. End it now.",
      say: (answer) => exchange.answer(answer),
    }),
    words(STATUS_TOOL, "text", {
      summary: `tell the peer ${peer} how far the work is`,
      done: "The peer was told.",
      say: (status, { idempotencyKey }) => exchange.say(status, idempotencyKey),
    }),
    artifact,
  ];
}

function resultOf(content: string): PowerResult {
  return { content, colour: "BLUE", label: "public", sources: [] };
}

/** The arguments that can hold the content. */
const CONTENTS = ["text", "json", "link", "artifact"] as const;

function shownOf(
  args: JsonObject,
): Exclude<Parameters<PeerToolsParts["shown"]>[0]["shown"], { kind: "bytes" }> {
  if (args["json"] !== undefined) return { kind: "json", json: textIn(args, "json") };
  if (args["link"] !== undefined) return { kind: "link", url: textIn(args, "link") };
  return { kind: "text", text: textIn(args, "text") };
}

/** The content in words, for the question, which also shows the arguments. */
function wordsOf(args: JsonObject): string {
  const shown = shownOf(args);
  if (shown.kind === "link") return "a link";
  return shown.kind === "json"
    ? `${shown.json.length} characters of JSON`
    : `${shown.text.length} characters of text`;
}

function textIn(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === "string") return value;
  throw new Fault("invalidArguments", `Cannot use argument "${key}": it is no text`);
}
