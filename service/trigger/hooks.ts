/** Webhooks: a signed, fresh and new delivery becomes one task. @module */
import { createHash } from "node:crypto";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { WebhookConfig } from "../../contracts/policy/mod.ts";
import type { HookAnswer, HookCall } from "../../contracts/wire/mod.ts";
import {
  type Firing,
  type FiringBook,
  type FiringPowers,
  firingSession,
  hookIngress,
} from "./firing.ts";
import {
  checkHook,
  checkHookText,
  fillHookText,
  HOOK_WINDOW_MS,
  type HookBytes,
  hookHeader,
} from "./delivery.ts";
import { type HookCounts, readTraceparent, type TraceLink } from "../trace/mod.ts";

/** Maximum deliveries of one webhook a minute that become tasks. */
const MAX_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
const DELIVERY = "x-github-delivery";

/** The powers of {@link makeHooks}, and its webhooks. */
export interface HookParts extends FiringPowers {
  readonly webhooks: Readonly<Record<string, WebhookConfig>>;
  secret(name: string): string | undefined;
  readonly book: Pick<FiringBook, "seen" | "see">;
  /** Notes that a task began, for the trace that its delivery named. */
  began?(task: TaskId, link: TraceLink | undefined): void;
}

/** The webhooks of one service. */
export interface Hooks {
  /** Handles a delivery. Rejects `rateLimited`, and the kernel's faults. */
  call(call: HookCall): Promise<HookAnswer>;
  counts(): HookCounts;
}

/** The URL path at which a webhook receives deliveries. */
export function hookPath(name: string, config: Pick<WebhookConfig, "path">): string {
  return config.path ?? `/hooks/${name}`;
}

/**
 * Makes the webhooks of remit.yaml.
 *
 * @throws Fault `invalidInput` where two webhooks share a path, or a request names a piece that no
 * delivery has
 */
export function makeHooks(parts: HookParts): Hooks {
  const entries = Object.entries(parts.webhooks);
  const byPath = new Map<string, readonly [string, WebhookConfig]>();
  for (const [name, config] of entries) {
    const where = `webhook "${name}" (${parts.at(`webhooks.${name}`)})`;
    checkHookText(config.request, where);
    const path = hookPath(name, config);
    if (byPath.has(path)) {
      throw new Fault("invalidInput", `Cannot use ${where}: another one has the path "${path}"`);
    }
    byPath.set(path, [name, config]);
  }
  const counts = new Map<string, Record<HookAnswer["result"], number>>();
  const answer = (name: string, result: HookAnswer["result"]): HookAnswer => {
    const have = counts.get(name) ?? { taken: 0, duplicate: 0, unknown: 0, late: 0 };
    have[result] += 1;
    counts.set(name, have);
    return { result };
  };
  const minutes = new Map<string, { since: number; taken: number }>();
  const within = (name: string): void => {
    const now = parts.now(), have = minutes.get(name);
    const minute = have === undefined || Math.abs(now - have.since) >= MINUTE_MS
      ? { since: now, taken: 0 }
      : have;
    minutes.set(name, minute);
    minute.taken += 1;
    if (minute.taken > MAX_PER_MINUTE) {
      throw new Fault(
        "rateLimited",
        `Cannot take the delivery: more than ${MAX_PER_MINUTE} a minute`,
      );
    }
  };
  // Read once: reading at each call would reveal by timing whether a path is known.
  const secrets = new Map<string, string>();
  for (const [name, config] of entries) {
    const secret = parts.secret(config.secret);
    if (secret !== undefined) secrets.set(name, secret);
    else {
      parts.note(
        `webhook ${name}: there is no secret "${config.secret}", so nothing is taken; "remit webhook secret ${name}" keeps one`,
      );
    }
  }

  return Object.freeze<Hooks>({
    async call(call): Promise<HookAnswer> {
      const [name, config] = byPath.get(call.path) ?? [];
      const bytes: HookBytes = { headers: call.headers, body: Buffer.from(call.body, "base64") };
      const { verdict, mac } = checkHook(bytes, {
        config: config ?? {},
        secret: secrets.get(name ?? ""),
        now: parts.now(),
      });
      if (name === undefined || config === undefined) return answer("", "unknown");
      if (verdict === "wrong") return answer(name, "unknown");
      if (verdict === "late") return answer(name, "late");
      const { principal } = hookIngress(name);
      const firing: Firing = {
        kind: "webhook",
        name,
        request: fillHookText(name, config.request, bytes),
        session: firingSession(principal, deliveryOf(bytes, config)),
        ingress: hookIngress(name),
      };
      const since = parts.now() - 2 * HOOK_WINDOW_MS;
      const timed = config.timestamp !== undefined;
      // Ids are seldom signed: equal signed bytes are one delivery under any id.
      if (timed && parts.book.seen(name, mac, since)) return answer(name, "duplicate");
      within(name);
      const { task, already } = await parts.fire(firing);
      // Noted after the task exists: the kernel knows the session of a repeated firing.
      if (timed) parts.book.see(name, mac, { at: parts.now(), since });
      if (already) return answer(name, "duplicate");
      parts.began?.(task, readTraceparent(hookHeader(bytes.headers, "traceparent")));
      parts.note(`webhook ${name}: task ${task}`);
      return answer(name, "taken");
    },
    counts: () => Object.fromEntries([...counts].map(([name, each]) => [name, { ...each }])),
  });
}

/** The key of a delivery: its id, else the digest of its time and body. */
function deliveryOf(call: HookBytes, config: WebhookConfig): string {
  const id = hookHeader(call.headers, config.delivery ?? DELIVERY);
  if (id !== undefined && id !== "") return `id ${id}`;
  const time = config.timestamp === undefined
    ? ""
    : hookHeader(call.headers, config.timestamp) ?? "";
  return `body ${createHash("sha256").update(`${time}.`).update(call.body).digest("hex")}`;
}
