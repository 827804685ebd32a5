/** The gateway process: no permission, or one listen address. Bundled as gateway.js. @module */
import { makeA2aServer, renderPush } from "../../bridges/a2a/serve/mod.ts";
import {
  makeMcpHttp,
  makeMcpServer,
  makeRounds,
  serveOverStdio,
} from "../../bridges/mcp/serve/mod.ts";
import { SERVE_PORT_LIMITS } from "../../contracts/wire/wire_serve.ts";
import { serveChild } from "../../port/child_powers.ts";
import { makeFairPort } from "./rates.ts";
import { makeGateway } from "./gateway.ts";
import { after, listen, makeSeal, now, randomBytes, sha256Base64 } from "./gateway_powers.ts";
import { serveOverHttp } from "./over_http.ts";
import { servePage } from "./page/routes.ts";
import { STYLE } from "./page/views.ts";
import { makeServiceAsks } from "./starter.ts";

/** Milliseconds that a call waits for a person where its host shows progress: hosts wait longer. */
const WAIT_MS = 45_000;

const rounds = makeRounds(randomBytes(32));
const prefix = randomBytes(6).toHex();
let calls = 0;
const nextCall = (): string => `mcp-${prefix}-${++calls}`;
const protocol = { rounds, nextCall, waitMs: WAIT_MS };
const styleDigest = await sha256Base64(STYLE);
const seal = await makeSeal(randomBytes(32));

await serveChild((pipe) => {
  const port = makeFairPort(pipe);
  return makeGateway(port, {
    overStdio: (session, pipe) =>
      serveOverStdio({
        ...{ write: pipe.write, note: pipe.note, onEnd: () => undefined },
        makeServer: () => makeMcpServer(session, { ...protocol, version: pipe.version }),
      }),
    overHttp: (starter, open) =>
      serveOverHttp({
        ...{ starter, open, listen, now, after },
        service: {
          asks: makeServiceAsks(port),
          makePeers: () =>
            makeA2aServer({
              ...{ port, after, note: starter.note },
              randomId: () => randomBytes(12).toHex(),
            }),
          page: (app, door) =>
            servePage(app, { ...door, asks: makeServiceAsks(port), styleDigest, seal }),
        },
        makeProtocol: (max) =>
          makeMcpHttp({
            ...{ max, now, note: starter.note },
            makeServer: (session) => makeMcpServer(session, { ...protocol, version: open.version }),
            sessionId: () => randomBytes(24).toHex(),
            open: ({ token }, client) => starter.open({ token, client }),
          }),
      }),
    render: renderPush,
  });
}, SERVE_PORT_LIMITS);
