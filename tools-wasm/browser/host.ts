/** The host functions that this plugin uses. @module */

/** An answer from the web. */
export interface WebAnswer {
  readonly status: number;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string;
  /** Replaces `text` for bytes that are not UTF-8. */
  readonly base64?: string;
  readonly cut: boolean;
  /** A redirect that was not followed. */
  readonly stopped?: { readonly location: string; readonly why: string };
}

/** One request. */
export interface WebRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bytes?: number;
}

/** The host. */
export interface Host {
  readonly http: { readonly fetch: (request: WebRequest) => Promise<WebAnswer> };
  readonly fs: {
    readonly write: (file: { readonly path: string; readonly text: string }) => Promise<null>;
  };
  readonly random: (bytes: number) => Promise<Uint8Array>;
}
