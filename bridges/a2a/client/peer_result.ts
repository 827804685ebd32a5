/** Results of calls of a peer, and the requests sent to it. Links are never followed. Used by peer_ops.ts. @module */
import { type Part, Role, type SendMessageRequest } from "@a2a-js/sdk";
import type { McpCallResult, McpPart } from "../../../contracts/wire/wire_mcp.ts";
import { cutText } from "../../mcp/client/mod.ts";
import type { Heard, HeardArtifact } from "./heard.ts";
import { isObject } from "../../../contracts/base/json.ts";
import type { PeerCall } from "../../../contracts/exchange/exchange.ts";
import { peerLabelOf } from "../../../contracts/exchange/peer_words.ts";
import { Fault } from "../../../contracts/base/fault.ts";

const MAX_TEXT_UNITS = 8_000_000;

/**
 * The result of a message or a poll: a line of ours, the last message of a finished task, the
 * artifacts of a settled one. Earlier messages and questions go to the inbox.
 */
export function resultOf(
  heard: Heard,
  { peer, goesOn }: { readonly peer: string; readonly goesOn: boolean },
): McpCallResult {
  const { task, context, state, dropped } = heard;
  const shown = goesOn ? [] : heard.artifacts;
  const facts = {
    ...(task === undefined ? {} : { task }),
    ...(context === undefined ? {} : { context }),
    state: state ?? "answered",
    ...(shown.length === 0 ? {} : { artifacts: shown.map(({ id }) => cutText(id, 256)) }),
  };
  const parts: McpPart[] = [
    { kind: "text", text: `[peer "${peer}": ${JSON.stringify(facts)}]` },
    ...nextOf(heard, peer, goesOn),
    ...(heard.over ? heard.message : []).flatMap((part) => partOf(part)),
    ...shown.flatMap((each) => [
      { kind: "text" as const, text: headOf(each) },
      ...each.parts.flatMap((part) => partOf(part, each.name)),
    ]),
  ];
  return {
    isError: state === "failed" || state === "rejected" || state === "canceled",
    parts: parts.slice(0, 1_000),
    structured: JSON.stringify(facts),
    cutBytes: dropped,
    ...(heard.label === "public" ? {} : { label: heard.label }),
  };
}

/** The result of fetching an artifact, which is kept as one of ours. */
export function artifactResult(
  { id, name, parts }: HeardArtifact,
  { peer, label }: { readonly peer: string; readonly label: McpCallResult["label"] },
): McpCallResult {
  return {
    ...(label === undefined ? {} : { label }),
    isError: false,
    parts: [
      { kind: "text", text: `[artifact ${JSON.stringify(cutText(id, 256))} of peer "${peer}"]` },
      ...parts.flatMap((part) => partOf(part, name, "kept")),
    ],
    cutBytes: 0,
  };
}

function headOf({ id, name }: HeardArtifact): string {
  return `[artifact ${JSON.stringify(cutText(id, 256))}${
    name === "" ? "" : ` ${JSON.stringify(name)}`
  }]`;
}

/** What the model can do next, in our words. */
function nextOf({ task, state }: Heard, peer: string, goesOn: boolean): readonly McpPart[] {
  const say = (text: string): readonly McpPart[] => [{ kind: "text", text: `[${text}]` }];
  if (goesOn && task !== undefined) {
    return say(
      `the task goes on at the peer; a2a_${peer}_task with {"task":${
        JSON.stringify(task)
      },"do":"wait"} waits for more, "cancel" gives it up`,
    );
  }
  if (state === "inputRequired") {
    return say(
      `the peer asks for more; answer with the same tool and "task":${JSON.stringify(task ?? "")}`,
    );
  }
  if (state === "authRequired") {
    return say("the peer wants somebody to sign in with it first; that is the operator's to do");
  }
  return [];
}

function partOf(part: Part, named = "", how: "shown" | "kept" = "shown"): readonly McpPart[] {
  const { content, mediaType, filename } = part;
  const mimeType = mediaType === "" ? "application/octet-stream" : cutText(mediaType, 256);
  switch (content?.$case) {
    case "text":
    case "data": {
      const text = content.$case === "text"
        ? content.value.slice(0, MAX_TEXT_UNITS)
        : JSON.stringify(content.value ?? null);
      if (how === "shown") return [{ kind: "text", text }];
      const type = content.$case === "text" ? "text/plain" : "application/json";
      const data = new TextEncoder().encode(text.toWellFormed()).toBase64();
      return [{ kind: "blob", what: "resource", mimeType: type, data }];
    }
    case "raw": {
      const bytes = new Uint8Array(content.value);
      return [{ kind: "blob", what: "resource", mimeType, data: bytes.toBase64() }];
    }
    case "url":
      return [{
        kind: "link",
        uri: cutText(content.value, 4_096),
        name: cutText(filename === "" ? named : filename, 512),
        ...(mediaType === "" ? {} : { mimeType: cutText(mediaType, 256) }),
      }];
    case undefined:
      return [];
  }
}

/** Ids in our messages. */
const ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The request for a call, made from its arguments alone. The message's id and, without a task or
 * context, its context derive from the call's key, so that a peer recognises a repeated message.
 *
 * @throws Fault `invalidArguments`
 */
export function messageOf(
  { tool, args, key, label }: Pick<PeerCall, "tool" | "args" | "key" | "label">,
  tenant: string,
): SendMessageRequest {
  const task = idOf(args["task"], "task");
  const context = idOf(args["context"], "context");
  const skill = tool === "" ? undefined : { skillId: tool };
  const told = peerLabelOf(label);
  return {
    tenant,
    message: {
      messageId: `r${key.slice(0, 40)}`,
      contextId: context ?? (task === undefined ? `c${key.slice(-24)}` : ""),
      taskId: task ?? "",
      role: Role.ROLE_USER,
      parts: partsOf(args),
      metadata: skill === undefined && told === undefined ? undefined : { ...skill, ...told },
      ...{ extensions: [], referenceTaskIds: [] },
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    },
    metadata: undefined,
  };
}

/** The id in an argument; undefined when it is empty. Throws `invalidArguments`. */
export function idOf(value: unknown, what: string): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && ID.test(value)) return value;
  throw new Fault("invalidArguments", `Cannot use "${what}": it is no name of a peer's ${what}`);
}

function partsOf(args: PeerCall["args"]): Part[] {
  const { message, data, files } = args;
  return [
    ...(typeof message === "string" ? [messagePart("text", message)] : []),
    ...(data === undefined ? [] : [messagePart("data", data)]),
    ...(Array.isArray(files) ? files : []).flatMap((file) =>
      isObject(file) && typeof file["text"] === "string"
        ? [{
          ...messagePart("text", file["text"]),
          filename: typeof file["name"] === "string" ? file["name"] : "",
        }]
        : []
    ),
  ];
}

function messagePart(kind: "text" | "data", value: unknown): Part {
  const rest = { metadata: undefined, filename: "" };
  return kind === "text"
    ? { content: { $case: "text", value: String(value) }, ...rest, mediaType: "text/plain" }
    : { content: { $case: "data", value }, ...rest, mediaType: "application/json" };
}
