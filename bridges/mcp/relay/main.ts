/**
 * The way out of a namespace without network, for programs that know proxies as `http://HOST:PORT` only: listens on
 * the namespace's own loopback, hands each connection to the net service's socket, runs the program with its own
 * standard input and output and ends with it. Arguments: the socket, the program, its arguments. It reads nothing of
 * what passes.
 * @module
 */
import { relay } from "./relay_powers.ts";

const [socket = "", program = "", ...args] = Deno.args;
Deno.exit(await relay({ socket, program, args }));
