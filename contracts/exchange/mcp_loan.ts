/**
 * Values lent to an imported server, its OAuth tokens, and its log, as the command line and the kernel
 * exchange them.
 * @module
 */

/** Secret values for one imported server: for its environment or for request headers. */
export interface McpLoan {
  readonly server: string;
  readonly env: Readonly<Record<string, string>>;
  /** By header name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: McpOAuth;
}

/** Tokens of one remote server and what their renewal needs. RFC 6749, 8707. */
export interface McpOAuth {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly resource: string;
  readonly scope?: string;
  readonly accessToken: string;
  /** Milliseconds since 1970; absent: unknown. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
}

/** A line of `remit mcp log`: what a server did or tried. `text` is untrusted. */
export interface McpLogEntry {
  readonly at: number;
  readonly task: string;
  /** `started`, `ended`, `access`, `proxied`, `suspended`, `changed`, `elicit`, `sample`, `odd`, `errors`, `call`. */
  readonly what: string;
  readonly text: string;
}
