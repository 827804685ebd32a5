/** What the kernel and the net service say to each other. @module */

/** An origin that a request may reach. */
export interface AllowedOrigin {
  /** `https://example.org`, `http://127.0.0.1:8080`: as `URL.origin` writes it. */
  readonly origin: string;
  /** The operator named exactly this origin: it may resolve to a private or loopback address. */
  readonly named: boolean;
  /** Of a named one: its name led to public addresses when it was first asked, and leads nowhere else since. */
  readonly was?: "public";
}

/** Kernel → net service, `fetch`. The kernel has decided it; the service judges every hop again. */
export interface NetRequest {
  readonly id: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text. */
  readonly body?: string;
  /** Where it and its redirects may go. A redirect elsewhere is not followed. */
  readonly allow: readonly AllowedOrigin[];
  /**
   * The `cookie` header of a request that carries a profile, empty while it has none. With it each redirect ends the
   * request, as {@link NetAnswer.next}, and what is set is told: the jar is the kernel's.
   */
  readonly cookies?: string;
  /** Redirects followed, at most. */
  readonly redirects: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly deadlineMs: number;
}

/** One request on the wire. */
export interface NetHop {
  readonly method: string;
  readonly url: string;
  /** The vetted address that was connected to. */
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
  /** `responseBytes` were reached, and the rest was not read. */
  readonly cut: boolean;
  /** Set when a redirect was not followed, with why. */
  readonly stopped?: { readonly location: string; readonly why: string };
  readonly hops: readonly NetHop[];
}

/** Kernel → net service event, `cancel`. */
export interface NetCancel {
  readonly id: string;
}

/** Kernel → net service, `stream`: as {@link NetRequest}, its answer is read piece by piece. */
export interface NetStream extends Omit<NetRequest, "deadlineMs" | "redirects" | "cookies"> {
  /** Milliseconds until the head of the answer. */
  readonly headMs: number;
  /** Milliseconds without a byte of the body; then it ends as `timedOut`. */
  readonly idleMs: number;
}

/** Answer to `stream`; faults as of `fetch`. A redirect is never followed: its status is the answer's. */
export interface NetStreamHead {
  readonly status: number;
  /** Names in lower case; `set-cookie` is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hop: NetHop;
}

/**
 * Kernel → net service, `streamRead` of `{ id }`; `cancel` ends a stream, too. Faults: `notFound` (no such stream),
 * `conflict` (a read is under way); `timedOut`, `tooLarge`, `upstream`, `cancelled`, each of which ends it.
 */
export interface NetStreamPiece {
  /** Base64 of at most 64 KiB; empty at the end, after which the id is forgotten. */
  readonly bytes: string;
}

/**
 * Kernel → net service, `proxyOpen`: listens at a unix socket, for one process in a namespace without network. It takes
 * `CONNECT host:port` and requests in absolute form (`GET http://…`, also `https://…`, which it sends over TLS), to the
 * allowed hosts at vetted and pinned addresses. Answer: `null`.
 */
export interface NetProxy {
  readonly id: string;
  /** One of the paths that the service may listen on. */
  readonly path: string;
  /** `host:port`, exact; `named`: it may resolve to a private or loopback address. */
  readonly allow: readonly { readonly host: string; readonly named: boolean }[];
  /** Budgets hold for what it sends: see {@link NetSpend}. */
  readonly metered?: boolean;
}

/**
 * Net service → kernel, `proxySpend`, before a metered proxy sends `need` bytes that no earlier answer holds. Answer:
 * `{ bytes }`, counted in the budgets by then: `need` at least, `most` at most. Faults: `budgetExhausted`.
 */
export interface NetSpend {
  readonly id: string;
  readonly need: number;
  readonly most: number;
}

/** Net service → kernel event `proxied`: one connection that was made, refused, or cut for want of a budget. `proxyClose` `{ id }` ends all. */
export interface NetProxied {
  readonly id: string;
  readonly host: string;
  readonly ok: boolean;
  readonly why?: string;
  /** Connections since the last event that were not told one by one. */
  readonly more?: number;
}
