/**
 * A bridge: handles the kernel's requests (contracts/wire/wire_mcp.ts,
 * contracts/exchange/exchange.ts) for one A2A peer.
 * @module
 */
import { JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import type { PeerCall, PeerOpen, PeerTaskAsk } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json } from "../../../contracts/base/json.ts";
import type { Port, PortHandler } from "../../../contracts/base/port.ts";
import type { McpReady } from "../../../contracts/wire/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import { makeCalls, makeKernelSide, makeReport, OPENING } from "../../mcp/client/mod.ts";
import type { Spoken } from "./card.ts";
import { findCard, type FoundCard, type PeerPowers } from "./find_card.ts";
import { makePeerFetch } from "./peer_fetch.ts";
import { makePeerOps, type OpenPeer } from "./peer_ops.ts";
import { wordsOf } from "./skill_words.ts";
import { peerFault } from "./limits.ts";

/** Makes the port handler of a bridge whose peer is not open yet. */
export function makePeerBridge(
  port: Pick<Port, "ask" | "tell">,
  { clock, cipher, restoreWeb, hearWarnings }: PeerPowers,
): PortHandler {
  const kernel = makeKernelSide(port);
  const report = makeReport(kernel.report, clock);
  const calls = makeCalls(clock);
  hearWarnings(report);
  let opening = false;
  let open: { readonly found: FoundCard; readonly peer: OpenPeer } | undefined;

  const opened = (): NonNullable<typeof open> => {
    if (open !== undefined) return open;
    throw new Fault("gone", "Cannot ask the peer: it is not open");
  };
  const ops = makePeerOps({
    ...{ peer: () => opened().peer, kernel, calls, clock, report },
    said: (message) => port.tell("said", asJson(message)),
  });

  function begin(asked: PeerOpen): Promise<McpReady> {
    if (opening) throw new Fault("conflict", "Cannot open: it is open");
    opening = true;
    restoreWeb();
    const { url = "", name = "NAME", a2a, deadlineMs } = asked;
    const asking = makePeerFetch({ kernel, origin: new URL(url).origin, name, report });
    return calls.run({ id: OPENING, deadlineMs, verb: "open the peer" }, async ({ signal }) => {
      try {
        const found = await findCard(url, a2a, { ask: asking, cipher, signal });
        open = { found, peer: await peerOf(found, { name, asking }) };
        const { server, protocol } = wordsOf(found);
        return { protocol, server: { name: server.name, version: server.version } };
      } catch (error) {
        throw peerFault("open the peer", error);
      }
    });
  }

  return Object.freeze<PortHandler>({
    // TRUST: bodies come from the kernel, which has parsed them.
    ask(op, body: unknown): Json | Promise<Json> {
      switch (op) {
        case "open":
          return begin(body as PeerOpen).then(asJson);
        case "words":
          return asJson(wordsOf(opened().found));
        case "call":
          return ops.call(body as PeerCall).then(asJson);
        case "task":
          return ops.task(body as PeerTaskAsk).then(asJson);
        case "artifact":
          return ops.artifact(body as PeerTaskAsk).then(asJson);
        case "close":
          return null;
        default:
          throw new Fault("invalidInput", `Cannot serve ${JSON.stringify(op)}: unknown here`);
      }
    },
    tell(op, body: unknown) {
      if (op === "cancel") calls.cancel((body as { readonly id: string }).id);
    },
  });
}

/** INVARIANT: the interface is on the card's own origin: the fetch reaches no other. */
async function peerOf(
  { card, spoken }: FoundCard,
  { name, asking }: { readonly name: string; readonly asking: typeof fetch },
): Promise<OpenPeer> {
  const transport = await factoryOf(spoken, asking).create(spoken.url, {
    ...EMPTY_CARD,
    name: card.name,
  });
  return { name, transport, tenant: spoken.tenant, streaming: card.streaming };
}

function factoryOf(
  { binding }: Spoken,
  fetchImpl: typeof fetch,
): JsonRpcTransportFactory | RestTransportFactory {
  return binding === "JSONRPC"
    ? new JsonRpcTransportFactory({ fetchImpl })
    : new RestTransportFactory({ fetchImpl });
}

/** An empty card: the SDK's factories need one and read nothing of it. */
const EMPTY_CARD = {
  ...{ description: "", supportedInterfaces: [], provider: undefined, version: "" },
  ...{ capabilities: undefined, securitySchemes: {}, securityRequirements: [] },
  ...{ defaultInputModes: [], defaultOutputModes: [], skills: [], signatures: [] },
};
