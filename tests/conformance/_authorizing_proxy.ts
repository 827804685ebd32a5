/**
 * The suite knows no tokens: this adds one to each request and passes everything else on as it came, `Host` and `Origin`
 * among it, so that the gateway judges what the suite sent.
 */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that runs. */
export interface Proxy {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** Sends what comes to a gateway, with its token. */
  lead(to: { readonly address: string; readonly token: string }): void;
  close(): Promise<void>;
}

/** Starts one on a free port. */
export async function startProxy(): Promise<Proxy> {
  let target: { readonly address: string; readonly token: string } | undefined;
  const server: Server = createServer((incoming, outgoing) => {
    if (target === undefined) return void outgoing.writeHead(503).end();
    const url = new URL(`http://${target.address}`);
    const onward = request({
      hostname: url.hostname,
      port: url.port,
      path: incoming.url,
      method: incoming.method,
      headers: { ...incoming.headers, authorization: `Bearer ${target.token}` },
    }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on(
      "error",
      () => outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(),
    );
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    lead: (to) => void (target = to),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
