/** The net service process: the only one that opens sockets to the world. Bundled as net.js. @module */
import "../port/prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../contracts/wire_plugin.ts";
import { serveChild } from "../port/child_powers.ts";
import { clock } from "./clock_powers.ts";
import { makeExchange } from "./exchange_powers.ts";
import { resolvingNames } from "./resolver.ts";
import { makeSystemResolver } from "./resolver_powers.ts";
import { makeNetService } from "./service.ts";

await serveChild(() =>
  makeNetService({
    resolver: resolvingNames(makeSystemResolver()),
    exchange: makeExchange(),
    clock,
  }), { frameBytes: WIDE_FRAME_BYTES });
