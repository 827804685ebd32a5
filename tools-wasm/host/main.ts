/**
 * The plugin host process: zero permissions, WASM plugins, one port. Bundled as plugin.js. @module
 */
import "../../port/prelude_powers.ts";
import { serveChild } from "../../port/child_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { makePluginHost } from "./host.ts";
import { now, random, sha256 } from "./host_powers.ts";
import { warm } from "./warm.ts";

const powers = { now, random, sha256 };
// Only a host that waits in the pool has time to warm up: a caller awaits any other host.
if (Deno.args[0] === "pooled") await warm(powers);
await serveChild((port) => makePluginHost(port, powers), { frameBytes: WIDE_FRAME_BYTES });
