/** Cookies of a person's own browser: the format cookies.txt, which Netscape began and every export writes. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { COOKIE_LIMITS, ProfileCookie } from "../../contracts/policy/mod.ts";

/** Most bytes of a file: a browser's whole jar fits. */
export const COOKIES_TXT_BYTES = 8_000_000;

/** What of a file a profile takes. */
export interface CookiesRead {
  readonly cookies: readonly ProfileCookie[];
  /** Of other hosts than the profile's: how many, and of how many hosts. */
  readonly others: { readonly cookies: number; readonly hosts: number };
  /** Of its origins, but expired, or none that a jar may hold. */
  readonly unfit: number;
}

/**
 * Reads a file for these origins. A cookie of a wider host is taken for each origin that the person's browser would send
 * it to, and there bound to it.
 *
 * @throws Fault `invalidInput` for what is no cookies.txt, `tooLarge`; no value is repeated
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
    // Seconds since 1970; 0 is a cookie of the session.
    const expiresAt = Math.round(Number(expires) * 1_000);
    for (const origin of to) {
      const parsed = ProfileCookie.safeParse({
        ...{ origin, shared: false, name, value, path, httpOnly, createdAt: now },
        secure: secure === "TRUE",
        // The format does not say it: as a browser takes one that does not.
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
