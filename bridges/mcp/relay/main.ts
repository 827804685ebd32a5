/**
 * The way out of a namespace without network, for programs that know proxies as `http://HOST:PORT`
 * only. Listens on the namespace's loopback, passes each connection unread to the net service's
 * socket, runs the program with this process's standard streams and ends with it. Arguments: the
 * socket, the program, its arguments.
 * @module
 */
import { relay } from "./relay_powers.ts";

const [socket = "", program = "", ...args] = Deno.args;
Deno.exit(await relay({ socket, program, args }));
