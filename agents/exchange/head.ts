/** An exchange as the kernel keeps it: a head that changes, and messages and artifacts that do not. @module */
import {
  type DocumentRow,
  Exchange,
  type ExchangeId,
  Fault,
  type Json,
  type JsonObject,
  PeerArtifact,
  PeerMessage,
  PeerSend,
  PushConfig,
  toJsonObject,
} from "../../contracts/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** Kinds of documents: the head, its messages and artifacts, and the request that waits for a person. */
export const HEAD = "exchange", PART = "exchangePart", REQUEST = "exchangeRequest";

/** Where deliveries go, and how far they came. */
export interface Push {
  readonly config: PushConfig;
  /** The newest version that was delivered. */
  readonly delivered: number;
  readonly attempt: number;
  /** Not before. */
  readonly again: number;
}

/** An exchange without its contents. */
export interface ExchangeHead extends Omit<Exchange, "history" | "artifacts" | "pushes"> {
  readonly clearance: PeerSend["clearance"];
  /** Digest of the first message, and of the context where its peer named one: a replay is known by it. */
  readonly first?: string;
  /** What the agent asked in this turn. */
  readonly asking?: string;
  /** With what it ends the exchange at this turn's end, in place of its last words. */
  readonly answering?: string;
  /** The status is a part of what was said: it goes into the history when another follows. */
  readonly said: boolean;
  readonly pushes: readonly Push[];
  /** Messages and artifacts that are kept, and their characters. */
  readonly messages: number;
  readonly artifacts: number;
  readonly bytes: { readonly theirs: number; readonly ours: number };
}

const Base = Exchange.omit({ history: true, artifacts: true, pushes: true }).strip();

/** The head that a document holds; undefined where it was erased. @throws Fault `storeCorrupt` */
export function headOf({ id, body }: Pick<DocumentRow, "id" | "body">): ExchangeHead | undefined {
  if (body["erased"] === true) return undefined;
  const base = Base.safeParse(body);
  const { clearance, first, asking, answering, said, messages, artifacts, bytes } = body;
  const label = PeerSend.shape.clearance.safeParse(clearance);
  if (!base.success || !label.success) {
    throw new Fault("storeCorrupt", `Cannot read exchange ${id}: it does not parse`);
  }
  return {
    ...base.data,
    clearance: label.data,
    ...(typeof first === "string" ? { first } : {}),
    ...(typeof asking === "string" ? { asking } : {}),
    ...(typeof answering === "string" ? { answering } : {}),
    said: said === true,
    pushes: listOf(body["pushes"]).flatMap((each) => pushOf(each) ?? []),
    messages: Number(messages),
    artifacts: Number(artifacts),
    bytes: { theirs: Number(at(bytes, "theirs")), ours: Number(at(bytes, "ours")) },
  };
}

/** The document of a head. */
export function headBody(head: ExchangeHead): JsonObject {
  return toJsonObject(head);
}

/** A message or an artifact, as a document of its own. */
export type Part =
  /** `first`: it began the exchange, and named none. */
  | { readonly kind: "message"; readonly message: PeerMessage; readonly first?: true }
  | { readonly kind: "artifact"; readonly artifact: PeerArtifact };

/** The part that a document holds; undefined where it was erased. */
export function partOf({ body }: Pick<DocumentRow, "body">): Part | undefined {
  const message = PeerMessage.safeParse(body["message"]);
  if (message.success) return { kind: "message", message: message.data };
  const artifact = PeerArtifact.safeParse(body["artifact"]);
  return artifact.success ? { kind: "artifact", artifact: artifact.data } : undefined;
}

/** Names a message within its exchange: the same words under the same id are the same message. */
export function wordsDigest({ id, parts }: Pick<PeerMessage, "id" | "parts">): string {
  return sha256Hex(canonicalJson([id, toJsonObject({ parts })])).slice(0, 40);
}

/** Names a part: a second one of the same name meets a conflict in the store. */
export function partId(exchange: ExchangeId, part: Part): string {
  return part.kind === "message"
    ? `${exchange}.${part.first === true ? "f" : "m"}.${wordsDigest(part.message)}`
    : `${exchange}.a.${part.artifact.id}`;
}

function pushOf(value: Json): Push | undefined {
  const config = PushConfig.safeParse(at(value, "config"));
  if (!config.success) return undefined;
  const [delivered, attempt, again] = ["delivered", "attempt", "again"].map((key) =>
    Number(at(value, key) ?? 0)
  );
  return {
    config: config.data,
    delivered: delivered ?? 0,
    attempt: attempt ?? 0,
    again: again ?? 0,
  };
}

const listOf = (value: Json | undefined): readonly Json[] => Array.isArray(value) ? value : [];

function at(value: Json | undefined, key: string): Json | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as JsonObject)[key]
    : undefined;
}
