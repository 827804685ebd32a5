/** Limits and usage of a process. @module */
import * as z from "zod";

const count = (most: number): z.ZodNumber => z.number().min(0).max(most);

/** Hard limits. A child's limits never exceed its parent's; only a person extends them. */
export const Limits = z.object({
  inputTokens: count(1e12),
  outputTokens: count(1e12),
  totalTokens: count(1e12),
  /** Largest conversation handed to a model, tokens. */
  contextWindow: count(1e9),
  /** US dollars. */
  money: count(1e6),
  wallClockMs: count(1e12),
  generationTimeoutMs: count(1e9),
  toolTimeoutMs: count(1e9),
  /** Model turns for one user message. */
  iterations: count(1e6),
  toolCalls: count(1e9),
  /** Calls by effect class; absent: only `toolCalls` applies. */
  callsByEffect: z.record(z.string(), count(1e9)),
  retries: count(1e3),
  /** Bytes of results handed to the process. */
  resultBytes: count(1e12),
  /** Bytes staged or written to scratch. */
  writtenBytes: count(1e12),
  children: count(1e4),
  depth: count(64),
  questions: count(1e5),
  /** US dollars a minute before SIGBRAKE. */
  moneyPerMinute: count(1e6),
}).strict();
export type Limits = z.infer<typeof Limits>;

/** The default limits of a task. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  inputTokens: 2_000_000,
  outputTokens: 200_000,
  totalTokens: 2_200_000,
  contextWindow: 200_000,
  money: 1,
  wallClockMs: 30 * 60_000,
  generationTimeoutMs: 120_000,
  toolTimeoutMs: 30_000,
  iterations: 50,
  toolCalls: 500,
  callsByEffect: { outboundWrite: 50, outboundRead: 200, destructive: 20 },
  retries: 3,
  resultBytes: 64_000_000,
  writtenBytes: 64_000_000,
  children: 8,
  depth: 3,
  questions: 50,
  moneyPerMinute: 0.5,
});

/** What a process has used, in the units of {@link Limits}. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  money: number;
  toolCalls: number;
  callsByEffect: Record<string, number>;
  resultBytes: number;
  writtenBytes: number;
  children: number;
  questions: number;
  iterations: number;
}

/** Nothing used yet. */
export function noUsage(): Usage {
  return {
    inputTokens: 0,
    outputTokens: 0,
    money: 0,
    toolCalls: 0,
    callsByEffect: {},
    resultBytes: 0,
    writtenBytes: 0,
    children: 0,
    questions: 0,
    iterations: 0,
  };
}
