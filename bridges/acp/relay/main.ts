/**
 * The relay to a provider, outside of a foreign agent's walls: takes requests without a key from a
 * unix socket, adds the key and sends them to one origin. Its setup is a line of standard input;
 * its output is one JSON object a line. Argument: the socket.
 * @module
 */
import { serveRelay } from "./relay_powers.ts";

await serveRelay(Deno.args[0] ?? "");
