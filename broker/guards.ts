/** Guards before and after a call: they can only make a decision stricter. @module */
import type { Colour } from "../contracts/authority/colour.ts";
import type { Digest } from "../contracts/authority/ids.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { Resolved } from "../contracts/task/power.ts";
import type { PermissionMode, ToolDescriptor } from "../contracts/tool/tool.ts";
import { digestOf } from "../port/digest.ts";
import { foldPath } from "../text/path_list.ts";

/** A call before it is decided. */
interface GuardedCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly resolved: Resolved;
}

/** Returns a mode to raise a call's to, or undefined. Synchronous and pure. */
type BeforeGuard = (
  call: GuardedCall,
) => { readonly mode: PermissionMode; readonly rule: string } | undefined;

/** Returns a colour to lower a result's to, or undefined. Synchronous and pure. */
type AfterGuard = (
  result: { readonly tool: string; readonly content: string },
) => { readonly colour: Colour; readonly note: string } | undefined;

/** The guards of a gate. */
export interface Guards {
  readonly before: readonly BeforeGuard[];
  readonly after: readonly AfterGuard[];
}

/** Phrases of texts that address the model and not a reader. */
const PHRASES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s{1,4}(?:all\s{1,4}|any\s{1,4}|the\s{1,4}|your\s{1,4}|of\s{1,4}){0,3}(?:previous|prior|above|earlier|preceding|system)\b/,
  /\b(?:new|updated|real|hidden)\s{1,4}(?:system\s{1,4})?(?:instructions?|prompt)\s{0,4}:/,
  /\b(?:reveal|print|show|repeat)\s{1,4}(?:me\s{1,4})?(?:your|the)\s{1,4}system\s{1,4}prompt\b/,
  /\b(?:do\s{1,4}not|don't|never)\s{1,4}(?:tell|inform|mention\s{1,4}(?:this|it)\s{1,4}to|alert|ask)\s{1,4}(?:the\s{1,4}|your\s{1,4})?(?:user|operator|human|owner)\b/,
  /\byou\s{1,4}are\s{1,4}now\s{1,4}(?:a|an|in|the)\b/,
  /\b(?:ai|llm|language\s{1,4}model|assistant|agent)s?\b[^\n]{0,40}\b(?:must|should)\s{1,4}(?:now\s{1,4})?(?:read|send|post|upload|fetch|run|execute|delete|call|email|forward)\b/,
  /<\|(?:im_start|im_end|system|assistant|user|endoftext)\|>/,
  /<\/?(?:system|instructions?|tool_call|function_calls?)>/,
  /\[\/?(?:inst|sys)\]/,
];

/** More combining marks on one letter than any script uses: normalizing them takes quadratic time. */
const STACKED = /(\p{M}{16})\p{M}+/gu;

/** The built-in guard after a call: text that gives orders to the model is RED. */
export const injectionGuard: AfterGuard = ({ content }) => {
  const text = foldPath(content.replace(STACKED, "$1"));
  return PHRASES.some((phrase) => phrase.test(text))
    ? { colour: "RED", note: "built-in: the text gives orders to its reader" }
    : undefined;
};

/** The built-in guard before a call: an agent's proposed program needs consent, whatever the rules say. */
const proposalGuard: BeforeGuard = ({ tool }) =>
  tool === "proposal_run"
    ? { mode: "consent", rule: "built-in: a proposed program asks a person" }
    : undefined;

/** A planned program that does more than read and stage needs consent. */
const planGuard: BeforeGuard = ({ resolved: { plan } }) =>
  plan?.sites.some(({ becomes }) => becomes === "covered") === true
    ? { mode: "consent", rule: "built-in: a program is agreed to before it runs" }
    : undefined;

/** The default guards of a gate. */
export const BUILT_IN_GUARDS: Guards = Object.freeze({
  before: [proposalGuard, planGuard],
  after: [injectionGuard],
});

/** Digests of reviewed descriptors. */
export interface Pins {
  reviewed(tool: string): Digest | undefined;
  /** Records a descriptor as reviewed, replacing the previous one. */
  review(descriptor: ToolDescriptor): void;
}

/** Makes pins of the given descriptors: built-in ones and those pinned before. */
export function makePins(descriptors: Iterable<ToolDescriptor> = []): Pins {
  const pinned = new Map<string, Digest>();
  const review = (descriptor: ToolDescriptor): void => {
    pinned.set(descriptor.name, descriptorDigest(descriptor));
  };
  for (const descriptor of descriptors) review(descriptor);
  return Object.freeze({ reviewed: (tool: string) => pinned.get(tool), review });
}

const known = new WeakMap<ToolDescriptor, Digest>();

/**
 * A tool's identity: everything in its descriptor except the mode, which the policy sets for each
 * subject. Cached for frozen descriptors only, so that a mutation is noticed.
 */
export function descriptorDigest(descriptor: ToolDescriptor): Digest {
  const before = known.get(descriptor);
  if (before !== undefined) return before;
  const { name, description, interfaceId, methodName, paramSchema, category } = descriptor;
  const digest = digestOf({ name, description, interfaceId, methodName, paramSchema, category });
  if (Object.isFrozen(descriptor)) known.set(descriptor, digest);
  return digest;
}
