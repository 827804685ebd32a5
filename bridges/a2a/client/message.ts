/** A message to a peer, made of a call's arguments: the same again for the same call. @module */
import { isObject } from "../../../contracts/json.ts";
import { type Part, Role, type SendMessageRequest } from "@a2a-js/sdk";
import type { PeerCall } from "../../../contracts/exchange.ts";
import { peerLabelOf } from "../../../contracts/peer_words.ts";
import { Fault } from "../../../contracts/fault.ts";

/** Names of A2A, in what is sent by us. */
const ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Makes the request. The message's id and, where no task and no context is named, its context are made of the call's key,
 * so that a peer can tell that it has it already.
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

/** The task that is gone on with. */
export function idOf(value: unknown, what: string): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && ID.test(value)) return value;
  throw new Fault("invalidArguments", `Cannot use "${what}": it is no name of a peer's ${what}`);
}

function partsOf(args: PeerCall["args"]): Part[] {
  const { message, data, files } = args;
  return [
    ...(typeof message === "string" ? [partOf("text", message)] : []),
    ...(data === undefined ? [] : [partOf("data", data)]),
    ...(Array.isArray(files) ? files : []).flatMap((file) =>
      isObject(file) && typeof file["text"] === "string"
        ? [{
          ...partOf("text", file["text"]),
          filename: typeof file["name"] === "string" ? file["name"] : "",
        }]
        : []
    ),
  ];
}

function partOf(kind: "text" | "data", value: unknown): Part {
  const rest = { metadata: undefined, filename: "" };
  return kind === "text"
    ? { content: { $case: "text", value: String(value) }, ...rest, mediaType: "text/plain" }
    : { content: { $case: "data", value }, ...rest, mediaType: "application/json" };
}
