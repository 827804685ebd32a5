/**
 * Grammars (GBNF) that force well-formed answers from a local model: JSON of a schema, and tool calls. The
 * gate still validates every call.
 *
 * @example
 * ```ts
 * import { parseToolAnswer, schemaGrammar, toolGrammar } from "./mod.ts";
 * const json = schemaGrammar({ type: "integer", minimum: 1, maximum: 12 });
 * const paramSchema = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}';
 * const grammar = toolGrammar([{ name: "file_read", paramSchema }], { mustCall: true });
 * if (!json.startsWith("root ::= ") || !grammar.includes("file_read")) throw new Error("no grammar");
 * const answer = '<tool_call>{"name":"file_read","arguments":{"path":"a"}}</tool_call>';
 * const { calls } = parseToolAnswer(answer);
 * if (calls[0]?.arguments !== '{"path":"a"}') throw new Error("no call");
 * ```
 * @module
 */
export {
  CALL_CLOSE,
  CALL_OPEN,
  parseToolAnswer,
  type ToolAnswer,
  toolGrammar,
} from "./tool_grammar.ts";
export { schemaGrammar } from "./compile.ts";
