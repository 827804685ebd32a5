/**
 * The provider's relay, outside the walls of an agent of others: requests come over one unix socket, without the key; it
 * puts the key in and speaks to one origin. Its setup is one line on standard input; what it says is one JSON object a
 * line. Argument: the socket.
 * @module
 */
import { serveRelay } from "./relay_powers.ts";

await serveRelay(Deno.args[0] ?? "");
