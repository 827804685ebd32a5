/**
 * The client of an agent of others, within the agent's own walls: it holds nothing. Its standard input is a handover;
 * its standard output the agent's answer, its standard error the steps of the work.
 * @module
 */
import { work } from "./client_powers.ts";

Deno.exit(await work());
