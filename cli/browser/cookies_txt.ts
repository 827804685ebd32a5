/** Parses cookies.txt, the format in which browsers' cookies are exported. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { COOKIE_LIMITS, ProfileCookie } from "../../contracts/policy/mod.ts";

/** Most bytes of a file: enough for a browser's whole jar. */
export const COOKIES_TXT_BYTES = 8_000_000;

/** The cookies of a file that a profile takes, and counts of the rest. */
export interface CookiesRead {
  readonly cookies: readonly ProfileCookie[];
  /** Counts of cookies of hosts outside the profile, and of those hosts. */
  readonly others: { readonly cookies: number; readonly hosts: number };
  /** Number of cookies of its origins that expired or that no jar may hold. */
  readonly unfit: number;
}

/**
 * Takes the cookies for these origins. A cookie of a wider host is taken for each origin to which a browser would send
 * it, and is then bound to that origin.
 *
 * @throws Fault `invalidInput` for text that is no cookies.txt, `tooLarge`; messages never repeat a value
 */
export function readCookiesTxt(text: string, origins: readonly string[], now: number): CookiesRead {
  const cookies: ProfileCookie[] = [];
  const hosts = new Set<string>();
  let others = 0, unfit = 0;
  for (const [n, written] of text.split(/\r?\n/).entries()) {
    const httpOnly = written.startsWith("#HttpOnly_");
    const line = httpOnly ? written.slice("#HttpOnly_".length) : written;
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
    const to = origins.filter((origin) => {
      const { hostname } = new URL(origin);
      return hostname === host || (wider === "TRUE" && hostname.endsWith(`.${host}`));
    });
    if (to.length === 0) {
      others += 1;
      hosts.add(host);
      continue;
    }
    // Seconds since 1970; 0 marks a session cookie.
    const expiresAt = Math.round(Number(expires) * 1_000);
    for (const origin of to) {
      const parsed = ProfileCookie.safeParse({
        ...{ origin, shared: false, name, value, path, httpOnly, createdAt: now },
        secure: secure === "TRUE",
        // The format has no such field: browsers' default.
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
