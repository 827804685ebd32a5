/** The command line that starts a gateway: no right at all, or one listen address. docs/decision/0016. @module */
import { denying, type WalledLine, walledLine, type WalledParts } from "../program/walled_line.ts";

/** What a line is made of. */
export interface ServeLineParts extends WalledParts {
  readonly listen: { readonly hostname: string; readonly port: number } | undefined;
}

/** What a gateway may take. */
export const SERVE_MOST = { files: 4_096, heap: 512, pages: 64, data: 2_048, file: 1 } as const;

/** Makes it. */
export function serveLine({ listen, ...parts }: ServeLineParts): WalledLine {
  return walledLine(parts, {
    flags: [
      // A request's signal then tells that its host has gone, and nothing else.
      "--unstable-no-legacy-abort",
      ...denying("read", "write", "run", "sys", "ffi", "import"),
      listen === undefined ? "--deny-net" : `--allow-net=${addressText(listen)}`,
    ],
    most: SERVE_MOST,
    sharing: listen === undefined ? [] : ["--share-net"],
  });
}

/** `host:port`, as Deno's flags and `Host` headers write it. */
export function addressText({ hostname, port }: {
  readonly hostname: string;
  readonly port: number;
}): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
