/** Conversation messages: plain data without authority. @module */
import * as z from "zod";
import { CallId, ToolName } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** Longest {@link ToolCall} echo, in UTF-16 units. */
export const ECHO_LIMIT = 131_072;

/** Longest text of one message, in UTF-16 units. */
export const MESSAGE_LIMIT = 1_000_000;

/** Most calls of one answer that are made. */
export const MAX_CALLS = 64;
/** Most calls that a message holds: those beyond {@link MAX_CALLS} are answered as too many. */
export const MAX_PROPOSED = 128;

/** Why a call that stands in an answer is not made: the gate refuses it in these words. */
export const Unmade = z.object({
  /** `cut`: the answer ended within it; `unreadable`: it is no call in any form; `surplus`: too many at once. */
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

/** A proposed tool call. `arguments` is JSON text, as the model wrote it. */
export const ToolCall = z.object({
  id: CallId,
  name: z.string().max(128),
  arguments: z.string().max(MESSAGE_LIMIT),
  /**
   * What the provider wants said back with the call (its signature, its model's thoughts), in the
   * words of its backend: opaque to everyone else, and sent to the model that said it alone.
   */
  echo: z.string().max(ECHO_LIMIT).optional(),
  /** It is not to be made; absent: it is whole. */
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
