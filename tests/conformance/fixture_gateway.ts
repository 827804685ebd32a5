/**
 * A process for the conformance suite: the product's gateway (routes, sessions, protocol) at an address of its own, over
 * fixtures in place of a kernel. Prints its address and the one token that it lets in, as JSON.
 */
import { makeMcpHttp, makeRounds } from "../../bridges/mcp/serve/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { after, listen, now, randomBytes } from "../../service/gateway/gateway_powers.ts";
import { serveOverHttp } from "../../service/gateway/over_http.ts";
import type { Starter } from "../../service/gateway/starter.ts";
import { fixtureSession, makeFixtureServer } from "./_fixture_server.ts";

const [host = "", bodyMs = "10000"] = Deno.args;
const token = randomBytes(16).toHex();
const rounds = makeRounds(randomBytes(32));
let calls = 0;
const starter: Starter = {
  admit: (given) =>
    given === token
      ? Promise.resolve({ holder: "suite", profile: "guest" })
      : Promise.reject(new Fault("denied", "Cannot let the host in")),
  open: () => Promise.reject(new Fault("unavailable", "Cannot open a session: there is no kernel")),
  note: (text) => void Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`)),
  heard: () => undefined,
};
/** All connections see one list of tools, as they would of one kernel. */
const session = fixtureSession();
const listening = serveOverHttp({
  starter,
  open: {
    transport: "http",
    listen: { hostname: "127.0.0.1", port: 0 },
    hosts: host === "" ? [] : [host, host.replace("127.0.0.1", "localhost")],
    origins: host === ""
      ? []
      : [`http://${host}`, `http://${host.replace("127.0.0.1", "localhost")}`],
    version: "0.0.0",
    bounds: { sessions: 1_000, perToken: 1_000_000, perAddress: 1_000_000, bodyMs: Number(bodyMs) },
  },
  ...{ listen, now, after },
  makeProtocol: (max) =>
    makeMcpHttp({
      ...{ max, now, note: starter.note },
      sessionId: () => randomBytes(24).toHex(),
      makeServer: () => makeFixtureServer(session, { rounds, nextCall: () => `call-${++calls}` }),
      open: () => Promise.resolve(session),
    }),
});
Deno.stdout.writeSync(
  new TextEncoder().encode(`${JSON.stringify({ address: listening.address, token })}\n`),
);
