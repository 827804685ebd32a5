/** The store process, the only one with a connection to the database. Bundled as store.js. @module */
import "../../port/prelude_powers.ts";
import "./process_powers.ts";
import { STORE_PORT_LIMITS } from "../../contracts/wire/wire_store.ts";
import { serveChild } from "../../port/child_powers.ts";
import { openEngine } from "./engine_powers.ts";
import { makeStoreService } from "./service.ts";

await serveChild(
  (port) => makeStoreService({ open: openEngine, tell: (op, body) => port.tell(op, body) }),
  STORE_PORT_LIMITS,
);
