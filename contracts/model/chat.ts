/** Conversation messages: plain data without authority. @module */
import * as z from "zod";
import { CallId, ToolName } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** Longest {@link ToolCall} echo, in UTF-16 units. */
export const ECHO_LIMIT = 131_072;

/** Longest text of one message, in UTF-16 units. */
export const MESSAGE_LIMIT = 1_000_000;

/** Maximum number of calls of one answer that are made. */
export const MAX_CALLS = 64;
/** Maximum number of calls in a message; those beyond {@link MAX_CALLS} are refused. */
export const MAX_PROPOSED = 128;

/** Why a call in an answer is not made; the gate refuses it with this text. */
export const Unmade = z.object({
  /** `cut`: the answer ended within the call; `unreadable`: not parseable as a call; `surplus`: too many calls. */
  kind: z.enum(["cut", "unreadable", "surplus"]),
  why: z.string().max(1_000),
}).strict();
export type Unmade = z.infer<typeof Unmade>;

/** Where a message's text came from. Carried by every message; never parsed as a command. */
export const Provenance = z.object({
  /** Who or what wrote it. */
  origin: z.enum(["operator", "person", "agent", "model", "tool", "file", "peer", "kernel"]),
  /** A path, a URL, a peer, a tool: untrusted text of at most 512 characters. */
  source: z.string().max(512).optional(),
  colour: Colour,
  label: Label,
}).strict();
export type Provenance = z.infer<typeof Provenance>;

/** A proposed tool call. `arguments` is the model's JSON text. */
export const ToolCall = z.object({
  id: CallId,
  name: z.string().max(128),
  arguments: z.string().max(MESSAGE_LIMIT),
  /**
   * Data that the provider wants back with the call (its signature, the model's thoughts), encoded
   * by its backend: opaque to all others, and sent only to the model that produced it.
   */
  echo: z.string().max(ECHO_LIMIT).optional(),
  /** Set if the call must not be made. */
  unmade: Unmade.optional(),
}).strict();
/** See {@link ToolCall}. The name is untrusted: it need not be a {@link ToolName}. */
export type ToolCall = z.infer<typeof ToolCall>;

/** One message of a conversation. */
export const ChatMessage = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string().max(MESSAGE_LIMIT),
  /** For role `tool`: the call it answers. */
  toolCallId: CallId.optional(),
  /** For role `tool`: the tool that answered. */
  toolName: z.union([ToolName, z.string().max(128)]).optional(),
  /** For role `assistant`: the calls it proposed. */
  toolCalls: z.array(ToolCall).max(MAX_PROPOSED).optional(),
  provenance: Provenance,
}).strict();
export type ChatMessage = z.infer<typeof ChatMessage>;
