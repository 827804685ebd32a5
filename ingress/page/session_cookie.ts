/** The cookie that holds a person's session at the page: no script reads it, no other site sends it. @module */

/** A cookie of sessions. */
export interface SessionCookie {
  /** The session that a request shows; undefined for none, or for two of them. */
  read(header: string | undefined): string | undefined;
  /** The header's value that gives one. `expiresAt` is milliseconds since 1970. */
  give(session: string, expiresAt: number): string;
  /** The header's value that takes it away. */
  readonly take: string;
}

const SESSION = /^[A-Za-z0-9_-]{32,128}$/;

/** Makes it. Over https no other host and no plain http can set it. */
export function makeSessionCookie(https: boolean): SessionCookie {
  const name = https ? "__Host-remit" : "remit_page";
  const more = `Path=/; HttpOnly; SameSite=Strict${https ? "; Secure" : ""}`;
  return Object.freeze<SessionCookie>({
    read(header): string | undefined {
      const found = (header ?? "").split(";").map((each) => each.trim()).filter((each) =>
        each.startsWith(`${name}=`)
      );
      // Two of them: one was set by somebody else.
      if (found.length !== 1) return undefined;
      const value = (found[0] ?? "").slice(name.length + 1);
      return SESSION.test(value) ? value : undefined;
    },
    give: (session, expiresAt) =>
      `${name}=${session}; ${more}; Expires=${new Date(expiresAt).toUTCString()}`,
    take: `${name}=; ${more}; Max-Age=0`,
  });
}
