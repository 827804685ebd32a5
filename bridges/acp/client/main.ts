/**
 * The client of an agent of others, within the agent's own walls: it holds nothing. Its standard input is a handover;
 * its standard output the agent's answer, its standard error the steps of the work. With an address as its argument it
 * passes messages on to that instead.
 * @module
 */
import { passMessages, work } from "./client_powers.ts";

const [url] = Deno.args;
const own = ["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--allow-net"];
if (url !== undefined) await passMessages(url);
else Deno.exit(await work([Deno.execPath(), ...own, new URL(import.meta.url).pathname]));
