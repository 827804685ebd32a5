/** Leases: what a process may do, and for how long. @module */
import * as z from "zod";
import { LeaseId, Millis, Pid, TaskId } from "./ids.ts";

/** A part of a resource and what may be done to it. */
export const Scope = z.object({
  /**
   * Kind of resource: `mount`, `scratch`, `outbox`, `net`, `model`, `agent`, `memory`, `mcp` or
   * `inbox`.
   */
  resource: z.string().regex(/^[a-z][a-z0-9]{0,31}$/),
  right: z.enum(["read", "write", "use"]),
  /** A `/`-separated prefix that covers itself and everything beneath it; empty covers everything. */
  path: z.string().max(4_096),
}).strict();
export type Scope = z.infer<typeof Scope>;

/** Authority over one scope. Rights only shrink: a derived lease is a subset of its parent. */
export const Lease = z.object({
  id: LeaseId,
  parent: LeaseId.optional(),
  task: TaskId,
  pid: Pid,
  scope: Scope,
  grantedAt: Millis,
  expiresAt: Millis,
  revokedAt: Millis.optional(),
  /** Why the lease was granted: the rule (`file:line`) or the person's answer. */
  reason: z.string().max(512),
}).strict();
export type Lease = z.infer<typeof Lease>;
