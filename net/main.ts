/** The net service process: the only one that opens sockets to the world. Bundled as net.js. @module */
import "../port/prelude_powers.ts";
import "./process_powers.ts";
import { toJson } from "../contracts/base/json.ts";
import { WIDE_FRAME_BYTES } from "../contracts/wire/wire_plugin.ts";
import { serveChild } from "../port/child_powers.ts";
import { clock } from "./clock_powers.ts";
import { makeExchange } from "./exchange_powers.ts";
import { resolvingNames } from "./address/resolver.ts";
import { makeSystemResolver } from "./address/resolver_powers.ts";
import { makeNetService } from "./service.ts";
import { makeSockets } from "./sockets_powers.ts";

await serveChild((port) =>
  makeNetService({
    resolver: resolvingNames(makeSystemResolver()),
    exchange: makeExchange(),
    clock,
  }, {
    sockets: makeSockets(),
    proxied: (event) => port.tell("proxied", toJson(event)),
    // TRUST: the kernel's own answer.
    spend: async (spend) =>
      ((await port.ask("proxySpend", toJson(spend))) as { readonly bytes: number }).bytes,
  }), { frameBytes: WIDE_FRAME_BYTES });
