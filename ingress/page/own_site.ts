/** Whether a request comes from the page itself, and not from a page of somebody else. @module */
import type { Ask } from "../answers.ts";
import type { Door } from "../host_origin_check.ts";

/** Why a form is not taken; undefined when it is ours. Behind a proxy the name that others see is the operator's to let in. */
export function whyNotOurs(
  c: Ask,
  { door, https }: { readonly door: Door; readonly https: boolean },
): string | undefined {
  const { origin, site } = askedBy(c);
  if (origin === undefined) return "it does not say where it comes from";
  const own = URL.canParse(origin) && new URL(origin).host === c.req.header("host")?.toLowerCase();
  if (!own && !(https && door.origin(origin))) return "it comes from somewhere else";
  if (site !== undefined && site !== "same-origin") return "another site sent it";
  return undefined;
}

/** Whether a page is asked for to be looked at by itself: not within another, not as a script or picture. */
export function isLookedAt(c: Ask): boolean {
  const { to } = askedBy(c);
  return to === undefined || to === "document";
}

function askedBy(c: Ask): {
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly to: string | undefined;
} {
  return {
    origin: c.req.header("origin"),
    site: c.req.header("sec-fetch-site"),
    to: c.req.header("sec-fetch-dest"),
  };
}
