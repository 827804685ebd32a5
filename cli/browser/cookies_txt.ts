/** Parses cookies.txt, the export format of browsers' cookies. Used by commands.ts. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { COOKIE_LIMITS, ProfileCookie } from "../../contracts/policy/mod.ts";

/** Maximum bytes of a file: enough for all cookies of a browser. */
export const MAX_COOKIES_TXT_BYTES = 8_000_000;

/** The cookies of a file that a profile accepts, and counts of the others. */
export interface CookiesRead {
  readonly cookies: readonly ProfileCookie[];
  /** Numbers of cookies of hosts outside the profile, and of those hosts. */
  readonly others: { readonly cookies: number; readonly hosts: number };
  /** Number of cookies of the profile's origins that have expired or are invalid. */
  readonly unfit: number;
}

/**
 * Selects the cookies for these origins. A cookie of a parent domain is copied for each origin to
 * which a browser would send the cookie; each copy is bound to one origin.
 *
 * @throws Fault `invalidInput` for another format, `tooLarge`; messages never repeat a value
 */
export function readCookiesTxt(text: string, origins: readonly string[], now: number): CookiesRead {
  const cookies: ProfileCookie[] = [];
  const hosts = new Set<string>();
  let others = 0, unfit = 0;
  for (const [n, raw] of text.split(/\r?\n/).entries()) {
    const httpOnly = raw.startsWith("#HttpOnly_");
    const line = httpOnly ? raw.slice("#HttpOnly_".length) : raw;
    if (line.trim() === "" || (!httpOnly && line.startsWith("#"))) continue;
    const fields = line.split("\t");
    if (fields.length !== 7) {
      throw new Fault(
        "invalidInput",
        `Cannot read the cookies: line ${n + 1} is not of a cookies.txt: it has ${fields.length} ` +
          "fields between tabs where there are 7",
      );
    }
    const [domain = "", wider, path = "/", secure, expires = "0", name = "", value = ""] = fields;
    const host = domain.replace(/^\./, "").toLowerCase();
    const targets = origins.filter((origin) => {
      const { hostname } = new URL(origin);
      return hostname === host || (wider === "TRUE" && hostname.endsWith(`.${host}`));
    });
    if (targets.length === 0) {
      others += 1;
      hosts.add(host);
      continue;
    }
    // Seconds since 1970; 0 marks a session cookie.
    const expiresAt = Math.round(Number(expires) * 1_000);
    for (const origin of targets) {
      const parsed = ProfileCookie.safeParse({
        ...{ origin, shared: false, name, value, path, httpOnly, createdAt: now },
        secure: secure === "TRUE",
        // The format has no SameSite field, so this is the default of browsers.
        sameSite: "lax",
        ...(expiresAt === 0 ? {} : { expiresAt }),
      });
      const fits = parsed.success && (expiresAt === 0 || expiresAt > now) &&
        (secure !== "TRUE" || origin.startsWith("https:"));
      if (fits) cookies.push(parsed.data);
      else unfit += 1;
    }
  }
  if (cookies.length > COOKIE_LIMITS.cookies) {
    throw new Fault(
      "tooLarge",
      `Cannot take the cookies: there are ${cookies.length} of these origins, a profile holds ` +
        `${COOKIE_LIMITS.cookies}`,
    );
  }
  return { cookies, others: { cookies: others, hosts: hosts.size }, unfit };
}
