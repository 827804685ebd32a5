/** Branded identifiers, born only in the parsers below. @module */
import * as z from "zod";

/** Names a durable {@link AgentTask}: `t` and 12 characters. */
export const TaskId = z.string().regex(/^t[0-9a-z]{12}$/).brand<"TaskId">();
export type TaskId = z.infer<typeof TaskId>;

/** Names a requester's session; grants for "this session" end with it. */
export const SessionId = z.string().regex(/^s[0-9a-z]{12}$/).brand<"SessionId">();
export type SessionId = z.infer<typeof SessionId>;

/** Names a question to a person. */
export const QuestionId = z.string().regex(/^q[0-9a-z]{12}$/).brand<"QuestionId">();
export type QuestionId = z.infer<typeof QuestionId>;

/** Names a lease. */
export const LeaseId = z.string().regex(/^l[0-9a-z]{12}$/).brand<"LeaseId">();
export type LeaseId = z.infer<typeof LeaseId>;

/** Names an artifact in an outbox. */
export const ArtifactId = z.string().regex(/^a[0-9a-z]{12}$/).brand<"ArtifactId">();
export type ArtifactId = z.infer<typeof ArtifactId>;

/** Remit's own process number: small, never reused within one kernel. 1 is the kernel. */
export const Pid = z.int().min(1).max(2 ** 31).brand<"Pid">();
export type Pid = z.infer<typeof Pid>;

/** SHA-256 in lower-case hex, 64 characters. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/).brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** A tool's name, in the characters that every provider accepts. */
export const ToolName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/).brand<"ToolName">();
export type ToolName = z.infer<typeof ToolName>;

/** A mount's name, first part of every path that a tool names (`NAME/relative`). */
export const MountName = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/).brand<"MountName">();
export type MountName = z.infer<typeof MountName>;

/** A tool call's id, unique in its conversation; chosen by a model, so untrusted. */
export const CallId = z.string().regex(/^[\x21-\x7e]{1,128}$/).brand<"CallId">();
export type CallId = z.infer<typeof CallId>;

/** Milliseconds since 1970 (UTC). */
export const Millis = z.int().min(0).max(8.64e15);
