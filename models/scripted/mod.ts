/**
 * A deterministic model that plays a scenario file, for demos and for every test that drives an agent.
 *
 * ```yaml
 * scenario: A short look          # required: the name; the model's id is `scripted:NAME`
 * model:                          # what the model says of itself; all optional
 *   displayName: A scripted model
 *   contextTokens: 8000           # a longer request is refused with contextOverflow
 *   outputTokens: 1000
 *   remote: true                  # as if text left the machine
 *   price: { input: 3, output: 15 } # US dollars for a million tokens
 * stream: { chunkChars: 24, delayMs: 15, firstMs: 200 } # for every turn
 * turns:
 *   - say: I will look around.    # text, streamed in chunks
 *     calls:
 *       - { tool: file_list, args: { path: desk } }
 *   - say: "The first entry is {{ tool.file_list | line 1 }}."
 * ```
 *
 * **Which turn is played.** The first that fits. A turn without `when` fits at its own place: the third
 * of those is the third inference of the conversation. With `loop: true` it also fits at every later
 * one: an endless loop. A turn with `when` fits wherever all its conditions hold:
 *
 * | condition | holds when |
 * |---|---|
 * | `always: true` | always |
 * | `user: TEXT` | the last user message contains TEXT |
 * | `system: TEXT` | the system message contains TEXT |
 * | `result: { tool, outcome, text }` | a result that answers the newest calls is of this tool, has this outcome (or one of a list), contains this text |
 * | `message: N` | this is the Nth user message |
 * | `step: N` | this is the Nth inference since the last user message |
 * | `inference: N` | this is the Nth inference of the conversation |
 * | `offered: [TOOL]`, `notOffered: [TOOL]` | all of these tools are advertised, none of them is |
 *
 * For TEXT there may stand `{ contains, equals, startsWith, lacks }` (lists for `contains` and `lacks`),
 * for N `{ from, to }`. When no turn fits, the inference fails with `upstream`, naming the scenario and
 * the last message.
 *
 * **What a turn does.** `say`, `rationale`, `calls`, `usage` (else counted, 4 characters a token),
 * `finish` (else `toolCalls` or `stop`), `stream`, `name` (for readers), `whole: true` (the text is not
 * cut at the answer's limit). A call has `tool`, which may be
 * unknown, and `args`, or `raw` text in their place for malformed arguments; `id` is made if absent
 * (`call_1`, ...). `error: { code, message, times }` fails after the text, always or the first `times`
 * times, then goes on with the calls: how often is the one thing that the service remembers. `hang: true`
 * waits until it is cancelled.
 *
 * **Templates** in `say`, `rationale`, `args` and `raw`: `{{ SOURCE | STEP | ... }}`. Sources: `user`,
 * `system` (the messages), `tool.NAME` (newest result of that tool), `tool.NAME.N` (its Nth; -1 is the
 * newest), `tool.N` (Nth result of all), `"text"`. Steps: `line N`, `lines A B` (from 1; negative from
 * the end), `find "text"` (first line that has it), `before "x"`, `after "x"`, `between "x" "y"`,
 * `cut N` (first N characters), `trim`, `number`, `json /pointer`. A string that is one template keeps
 * the type of its value. Write `{{ "{{" }}` for two braces.
 *
 * Unknown keys are errors; a wrong file is refused with file, line, column and reason.
 *
 * @example
 * ```ts
 * import { parseScenario } from "./mod.ts";
 * parseScenario("scenario: hello\nturns: [{ say: Hello. }]", "hello.yaml").turns.length; // 1
 * ```
 * @module
 */
export { parseScenario } from "./scenario.ts";
