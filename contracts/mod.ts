/**
 * The nouns of all parts: schemas, branded ids, faults, events, and the interfaces of the seams.
 * Imports nothing of ours.
 *
 * @example
 * ```ts
 * import { Fault, mixColour } from "./mod.ts";
 * if (mixColour("BLUE", "RED") !== "RED") throw new Fault("refused", "Cannot mix colours: wrong order");
 * ```
 * @module
 */
export * from "./agent_spec.ts";
export * from "./budget.ts";
export * from "./built_program.ts";
export * from "./chat.ts";
export * from "./colour.ts";
export * from "./command.ts";
export * from "./content_trust.ts";
export * from "./control_answers.ts";
export * from "./delegation.ts";
export * from "./event.ts";
export * from "./exchange.ts";
export * from "./exchanges.ts";
export * from "./export_claims.ts";
export * from "./fault.ts";
export * from "./fault_exit.ts";
export * from "./gate.ts";
export * from "./hosting.ts";
export * from "./ids.ts";
export * from "./inbox.ts";
export * from "./json.ts";
export * from "./lal.ts";
export * from "./lease.ts";
export * from "./loopback.ts";
export * from "./mail.ts";
export * from "./mcp.ts";
export * from "./mcp_loan.ts";
export * from "./model.ts";
export * from "./model_aux.ts";
export * from "./model_clearance.ts";
export * from "./model_config.ts";
export * from "./peer_words.ts";
export * from "./plugin.ts";
export * from "./policy.ts";
export * from "./port.ts";
export * from "./power.ts";
export * from "./moment.ts";
export * from "./process.ts";
export * from "./process_session.ts";
export * from "./question.ts";
export * from "./receipt.ts";
export * from "./result_message.ts";
export * from "./serve_config.ts";
export * from "./signal.ts";
export * from "./store.ts";
export * from "./task.ts";
export * from "./tokens.ts";
export * from "./tool.ts";
export * from "./wire_a2a.ts";
export * from "./wire_control.ts";
export * from "./wire_mcp.ts";
export * from "./wire_model.ts";
export * from "./wire_net.ts";
export * from "./wire_plugin.ts";
export * from "./wire_serve.ts";
export * from "./wire_toolhost.ts";
export * from "./wire_wiki.ts";
export * from "./wire_worker.ts";
export * from "./wiki.ts";
export * from "./wiki_page.ts";
export * from "./wiki_source.ts";
export * from "./workspace.ts";
