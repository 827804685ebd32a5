/**
 * Persistent browser profiles: which agent is signed in at which origins and until when, and which
 * part of that a person signs. Used by config, the kernel and cli/browser. docs/browser_profiles.md
 * @module
 */
import * as z from "zod";
import { Millis } from "../authority/ids.ts";
import { isLoopback } from "../base/loopback.ts";
import type { JsonObject } from "../base/json.ts";

/** A profile's name, also the name of its shared resource: `browserProfile:NAME`. */
export const ProfileName = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/).brand<"ProfileName">();
/** See {@link ProfileName}. */
export type ProfileName = z.infer<typeof ProfileName>;

/** An exact origin as `URL.origin` writes it: https, or http to this machine. */
export const ProfileOrigin = z.string().max(512).refine(
  isProfileOrigin,
  "is no origin of a profile: write https://HOST as it is (http: this machine alone), without a path",
);

const AGENT = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const ORIGINS = z.array(ProfileOrigin).min(1).max(16).refine(
  (origins) => new Set(origins).size === origins.length,
  "names an origin twice",
);

/** One profile as remit.yaml writes it. */
export const BrowserProfile = z.object({
  /** The only agent that is signed in. */
  agent: AGENT,
  origins: ORIGINS,
  /** Days from the approval until the profile is emptied. */
  days: z.int().min(1).max(365),
}).strict();
/** See {@link BrowserProfile}. */
export type BrowserProfile = z.infer<typeof BrowserProfile>;

/** All profiles by name. At most one profile signs an agent in at an origin. */
export const BrowserProfiles = z.record(ProfileName, BrowserProfile).superRefine(
  (profiles, context) => {
    const taken = new Map<string, string>();
    if (Object.keys(profiles).length > 32) {
      context.addIssue({ code: "custom", message: "has more than 32 profiles" });
    }
    for (const [name, { agent, origins }] of Object.entries(profiles)) {
      for (const origin of origins) {
        const other = taken.get(`${agent} ${origin}`);
        taken.set(`${agent} ${origin}`, name);
        if (other === undefined) continue;
        const message = `${agent} is signed in at ${origin} by profile "${other}" already`;
        context.addIssue({ code: "custom", message, path: [name, "origins"] });
      }
    }
  },
);
/** See {@link BrowserProfiles}. */
export type BrowserProfiles = z.infer<typeof BrowserProfiles>;

/** The values that a person approved. */
export const ProfileGrant = z.object({
  name: ProfileName,
  agent: AGENT,
  origins: ORIGINS,
  days: BrowserProfile.shape.days,
  approvedAt: Millis,
  expiresAt: Millis,
}).strict();
/** See {@link ProfileGrant}. */
export type ProfileGrant = z.infer<typeof ProfileGrant>;

/** The person's Ed25519 signature over {@link profileClaim}, base64url. */
export const ProfileSignature = z.string().regex(/^[A-Za-z0-9_-]{86}$/);

/**
 * The claim that a person signs, as canonical JSON; valid for the state with the receipt key `kernel`.
 */
export function profileClaim(
  { name, agent, origins, days, approvedAt, expiresAt }: ProfileGrant,
  kernel: string,
): JsonObject {
  const to = [...origins];
  return { browserProfile: name, agent, origins: to, days, approvedAt, expiresAt, kernel };
}

/** Limits of a profile's cookies: RFC 6265bis asks for 50 a host, 4,096 bytes of name and value. */
export const COOKIE_LIMITS = Object.freeze({ cookies: 256, bytes: 4_096, path: 1_024 });

const octets = z.string().max(COOKIE_LIMITS.bytes);

/** A cookie of a profile, bound to the origin that set it. */
export const ProfileCookie = z.object({
  origin: ProfileOrigin,
  /** Also sent to the profile's origins on subdomains, because Domain was exactly this host. */
  shared: z.boolean(),
  name: octets.regex(/^[\x21-\x3a\x3c\x3e-\x7e]+$/),
  value: octets.regex(/^(?:[\x21-\x3a\x3c-\x7e](?:[\x20-\x3a\x3c-\x7e]*[\x21-\x3a\x3c-\x7e])?)?$/),
  path: z.string().max(COOKIE_LIMITS.path).regex(/^\/[\x20-\x3a\x3c-\x7e]*$/),
  secure: z.boolean(),
  httpOnly: z.boolean(),
  sameSite: z.enum(["strict", "lax", "none"]),
  createdAt: Millis,
  /** Absent: the cookie lasts as long as the profile. */
  expiresAt: Millis.optional(),
}).strict();
/** See {@link ProfileCookie}. */
export type ProfileCookie = z.infer<typeof ProfileCookie>;

/** The state of a profile, without the values of its cookies. */
export interface ProfileStanding {
  readonly grant: ProfileGrant;
  readonly cookies: readonly Omit<ProfileCookie, "value">[];
}

/** Why a profile may not be used with its current entry in remit.yaml; undefined if it may. */
export function whyNotApproved(
  profile: BrowserProfile | undefined,
  grant: ProfileGrant | undefined,
  now: number,
): "not approved" | "not in remit.yaml" | "changed since it was approved" | "expired" | undefined {
  if (profile === undefined) return "not in remit.yaml";
  if (grant === undefined) return "not approved";
  const same = profile.agent === grant.agent && profile.days === grant.days &&
    profile.origins.length === grant.origins.length &&
    profile.origins.every((origin) => grant.origins.includes(origin));
  if (!same) return "changed since it was approved";
  return grant.expiresAt <= now ? "expired" : undefined;
}

function isProfileOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.origin !== text) return false;
  // URL accepts patterns such as *.example.org as hosts.
  if (!/^[a-z0-9.:[\]-]+$/.test(url.hostname)) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}
