/**
 * The client of a foreign agent, within the agent's walls, without any right. Standard input: the
 * handover; standard output: the agent's answer; standard error: steps of its work. With a URL as
 * argument it relays messages to that URL instead.
 * @module
 */
import { passMessages, work } from "./client_powers.ts";

const [url] = Deno.args;
const own = ["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--allow-net"];
if (url !== undefined) await passMessages(url);
else Deno.exit(await work([Deno.execPath(), ...own, new URL(import.meta.url).pathname]));
