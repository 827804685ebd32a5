/** Messages between the kernel and the net service. @module */

/** An origin that a request may reach. */
export interface AllowedOrigin {
  /** `https://example.org`, `http://127.0.0.1:8080`: as `URL.origin` writes it. */
  readonly origin: string;
  /** Whether the operator named exactly this origin, so that it may resolve to a private or loopback address. */
  readonly named: boolean;
  /** For a named origin: its name first resolved to public addresses and must continue to. */
  readonly was?: "public";
}

/** Kernel → net service, `fetch`. The kernel has allowed it; the service checks every hop again. */
export interface NetRequest {
  readonly id: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text. */
  readonly body?: string;
  /** Allowed origins for the request and its redirects. Other redirects are not followed. */
  readonly allow: readonly AllowedOrigin[];
  /**
   * The `cookie` header of a request with a browser profile; empty while the profile has none. Each
   * redirect then ends the request ({@link NetAnswer.next}), and set cookies are reported: the
   * kernel keeps the jar.
   */
  readonly cookies?: string;
  /** Maximum number of redirects to follow. */
  readonly redirects: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly deadlineMs: number;
}

/** One request on the wire. */
export interface NetHop {
  readonly method: string;
  readonly url: string;
  /** The vetted address of the connection. */
  readonly address: string;
  readonly status: number;
  readonly ms: number;
}

/**
 * Answer to `fetch`. Faults: `refused` (origin, address, scheme, port or header not allowed, with
 * why), `notFound` (no such host), `unavailable` (no connection), `timedOut`, `tooLarge`,
 * `upstream` (not HTTP), `cancelled`.
 */
export interface NetAnswer {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** Names in lower case; `set-cookie` is left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each `set-cookie` by itself; with {@link NetRequest.cookies} alone. */
  readonly setCookies?: readonly string[];
  /** Where a redirect leads that the service would have followed; with {@link NetRequest.cookies} alone. */
  readonly next?: {
    readonly method: NetRequest["method"];
    readonly url: string;
    /** The body goes along, and headers about it. */
    readonly body: boolean;
  };
  /** Base64. */
  readonly body: string;
  readonly bytes: number;
  /** Whether `responseBytes` were reached and the rest was not read. */
  readonly cut: boolean;
  /** Set when a redirect was not followed, with why. */
  readonly stopped?: { readonly location: string; readonly why: string };
  readonly hops: readonly NetHop[];
}

/** Kernel → net service event, `cancel`. */
export interface NetCancel {
  readonly id: string;
}

/** Kernel → net service, `stream`: like {@link NetRequest}, with the answer read piece by piece. */
export interface NetStream extends Omit<NetRequest, "deadlineMs" | "redirects" | "cookies"> {
  /** Milliseconds until the head of the answer. */
  readonly headMs: number;
  /** Milliseconds without a byte of the body; then it ends as `timedOut`. */
  readonly idleMs: number;
}

/** Answer to `stream`; faults as for `fetch`. A redirect is never followed: its status is returned. */
export interface NetStreamHead {
  readonly status: number;
  /** Names in lower case; `set-cookie` is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hop: NetHop;
}

/**
 * Answer to `streamRead` `{ id }` (kernel → net service); `cancel` also ends a stream. Faults:
 * `notFound` (no such stream), `conflict` (another read is running); `timedOut`, `tooLarge`,
 * `upstream`, `cancelled`, each of which ends the stream.
 */
export interface NetStreamPiece {
  /** Base64 of at most 64 KiB; empty at the end, after which the id is forgotten. */
  readonly bytes: string;
}

/**
 * Kernel → net service, `proxyOpen`: listens on a unix socket for one process in a namespace
 * without network. Accepts `CONNECT host:port` and requests in absolute form (`GET http://…`, also
 * `https://…`, which it sends over TLS), to allowed hosts at vetted and pinned addresses. Answer:
 * `null`.
 */
export interface NetProxy {
  readonly id: string;
  /** One of the paths that the service may listen on. */
  readonly path: string;
  /** `host:port`, exact; `named`: may resolve to a private or loopback address. */
  readonly allow: readonly { readonly host: string; readonly named: boolean }[];
  /** Whether budgets limit what the proxy sends; see {@link NetSpend}. */
  readonly metered?: boolean;
}

/**
 * Net service → kernel, `proxySpend`: asked before a metered proxy sends `need` bytes that no
 * earlier answer covers. Answer: `{ bytes }`, counted in the budgets: at least `need`, at most
 * `most`. Faults: `budgetExhausted`.
 */
export interface NetSpend {
  readonly id: string;
  readonly need: number;
  readonly most: number;
}

/**
 * Net service → kernel event `proxied`: a connection was made, refused, or cut because a budget is
 * exhausted. `proxyClose` `{ id }` ends the proxy.
 */
export interface NetProxied {
  readonly id: string;
  readonly host: string;
  readonly ok: boolean;
  readonly why?: string;
  /** Number of further connections since the last event. */
  readonly more?: number;
}
