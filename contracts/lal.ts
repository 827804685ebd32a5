/** Names the agent program that speaks the protocol of seed 002: apart, so that a worker loads no schemas. @module */

/** `program` of a task whose agent is Lal: it speaks in tool calls alone, and waits for what it proposed. */
export const LAL_PROGRAM = "remit:lal";
