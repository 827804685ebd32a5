/** A webhook or schedule that fired: what is asked for, and by which key the same firing is known again. @module */
import { createHash } from "node:crypto";
import { Fault, type Ingress, SessionId, type TaskId } from "../../../contracts/mod.ts";

/** One firing, ready to become a task. */
export interface Firing {
  readonly kind: "webhook" | "schedule";
  /** The entry's name in remit.yaml. */
  readonly name: string;
  /** The task's words. */
  readonly request: string;
  /** The same for the same firing: the kernel makes one task of it. */
  readonly session: SessionId;
  readonly ingress: Ingress;
}

/** What became of a firing: its task, and whether it was there before. */
export interface Fired {
  readonly task: TaskId;
  readonly already: boolean;
}

const LETTERS = 12;

/**
 * The session of a firing: `s` and 12 characters made of who fired and of what makes this firing the one it is (a
 * delivery's id, a time). 62 bits: two firings of one entry never meet in practice.
 */
export function firingSession(principal: string, key: string): SessionId {
  const digest = createHash("sha256").update(`remit firing\n${principal}\n${key}`).digest("hex");
  const text = BigInt(`0x${digest}`).toString(36).padStart(LETTERS, "0").slice(-LETTERS);
  return SessionId.parse(`s${text}`);
}

/** Who a webhook's deliveries are: anyone who knows the secret. */
export function hookIngress(name: string): Ingress {
  return { channel: "webhook", principal: `webhook:${name}`, colour: "RED", label: "public" };
}

/** Who a schedule is: the operator, whose words its request is. */
export function scheduleIngress(name: string): Ingress {
  return { channel: "schedule", principal: `schedule:${name}`, colour: "BLUE", label: "internal" };
}

const PASSING: ReadonlySet<string> = new Set([
  ...["gone", "unavailable", "upstream", "timedOut", "storeFull", "conflict", "rateLimited"],
]);

/** Tells whether the same firing may go through a little later: the kernel was away, or full. */
export function mayPass(error: unknown): boolean {
  return error instanceof Fault && PASSING.has(error.code);
}
