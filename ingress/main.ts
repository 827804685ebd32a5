/** The gateway's process: no right, or one listen address. Bundled as gateway.js. @module */
import {
  makeMcpHttp,
  makeMcpServer,
  makeRounds,
  serveOverStdio,
} from "../bridges/mcp/serve/mod.ts";
import { SERVE_PORT_LIMITS } from "../contracts/wire_serve.ts";
import { serveChild } from "../port/child_powers.ts";
import { makeGateway } from "./gateway.ts";
import { after, listen, now, randomBytes } from "./gateway_powers.ts";
import { serveOverHttp } from "./over_http.ts";

/** Milliseconds that a call may wait for a person where its host shows progress: less than hosts' own limits. */
const WAIT_MS = 45_000;

const rounds = makeRounds(randomBytes(32));
const prefix = randomBytes(6).toHex();
let calls = 0;
const nextCall = (): string => `mcp-${prefix}-${++calls}`;
const protocol = { rounds, nextCall, waitMs: WAIT_MS };

await serveChild((port) =>
  makeGateway(port, {
    overStdio: (session, pipe) =>
      serveOverStdio({
        ...{ write: pipe.write, note: pipe.note, onEnd: () => undefined },
        makeServer: () => makeMcpServer(session, { ...protocol, version: pipe.version }),
      }),
    overHttp: (starter, open) =>
      serveOverHttp({
        ...{ starter, open, listen, now, after },
        makeProtocol: (most) =>
          makeMcpHttp({
            ...{ most, now, note: starter.note },
            makeServer: (session) => makeMcpServer(session, { ...protocol, version: open.version }),
            sessionId: () => randomBytes(24).toHex(),
            open: ({ token }, client) => starter.open({ token, client }),
          }),
      }),
  }), SERVE_PORT_LIMITS);
