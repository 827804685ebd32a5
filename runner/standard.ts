/**
 * The standard agent program: drives the loop of loop.ts over the kernel's ports. At most one
 * operation is pending, so a signal only marks the state and takes effect when that operation
 * returns. Used by planner.ts and worker.ts.
 * @module
 */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import { Fault, type FaultCode, unreachable } from "../contracts/base/fault.ts";
import type { Signal } from "../contracts/task/signal.ts";
import {
  estimateTokens,
  estimateToolTokens,
  makeTokenRatio,
  type TokenRatio,
} from "../contracts/model/tokens.ts";
import type { ToolResult, ToolSnapshot } from "../contracts/tool/tool.ts";
import type { StartBody, TurnEnd } from "../contracts/wire/wire_worker.ts";
import { makeConversation, skipCalls, unansweredCalls } from "./conversation.ts";
import { type CallBy, type Habits, STANDARD_HABITS } from "./habits.ts";
import type { KernelPorts, Program } from "./program.ts";
import { type Act, IDLE, type LoopInput, type LoopState, step, type Stop } from "./loop.ts";
import { faultResult, resultMessage } from "./result_message.ts";

/** Most tokens requested for one inference. */
const ANSWER_TOKENS = 8_192;
/** Largest share of the window reserved for the answer. */
const ANSWER_SHARE = 0.2;
/** Target share of a compaction: normally, and after a reported overflow. */
const TARGET_SHARE = 0.6;
const SQUEEZED_SHARE = 0.4;

/** Faults that are not failures of the model: programs do not report them. */
const UNREPORTED: ReadonlySet<FaultCode> = new Set(["needsApproval", "cancelled", "gone"]);

/** Most UTF-16 code units of a refusal shown to a person. */
const MAX_REFUSAL = 1_000;

/** The fault of an answer that was refused or filtered. `words`: the refusal's text. */
function filtered(words: string): Fault {
  const said = words.trim();
  const shown = said.length <= MAX_REFUSAL ? said : `${said.slice(0, MAX_REFUSAL).toWellFormed()}…`;
  return new Fault(
    "upstream",
    shown === ""
      ? "Cannot go on: the provider's content filter ended the model's answer; ask in other words"
      : `Cannot go on: the model or its provider refused to answer; ask in other words. It said: ${shown}`,
  );
}

/** Makes the standard program over the kernel's ports, or another program with the given hooks. */
export function makeStandard(
  kernel: Pick<KernelPorts, "advertise" | "infer" | "makeRoom" | "call">,
  { conversation: initial, limits, instructions = [], answerSchema }: Pick<
    StartBody,
    "conversation" | "limits" | "instructions" | "answerSchema"
  >,
  habits: Habits = STANDARD_HABITS,
): Program {
  const conversation = makeConversation(...habits.begin(initial));
  let window = limits.contextWindow;
  const answerTokens = (): number =>
    Math.max(
      1,
      Math.floor(Math.min(ANSWER_TOKENS, limits.outputTokens, window * ANSWER_SHARE)),
    );
  let maxTokens = answerTokens();
  let ratio = makeTokenRatio();
  let state: LoopState = IDLE;
  let snapshot: ToolSnapshot | undefined;
  let pressed = false;
  let streamed = "";
  let text = "";
  let fault: Fault | undefined;
  let asking: symbol | undefined;
  /** Signals that arrive while a turn is being prepared; undefined at other times. */
  let early: Signal[] | undefined;

  const go = (input: LoopInput): Act => {
    const next = step(state, input, limits);
    state = next.state;
    return next.act;
  };

  const failed = (error: unknown): LoopInput => {
    // An exception that is no fault is a bug: it ends the session.
    if (!(error instanceof Fault)) throw error;
    fault = error;
    // Spending too fast and having spent everything are one fault code of the kernel, but two
    // stops.
    if (error.detail?.["brake"] === true) go({ kind: "told", signal: "SIGBRAKE" });
    return { kind: "failed", code: error.code, tried: error.detail?.["tried"] === true };
  };

  function open(message: ChatMessage | undefined): LoopInput {
    streamed = text = "";
    const cutOff = unansweredCalls(conversation.messages());
    if (message !== undefined) {
      skipCalls(conversation, cutOff);
      conversation.append(message);
      return { kind: "turn", calls: [], complete: false };
    }
    const last = conversation.messages().at(-1);
    const complete = last?.role === "assistant" && cutOff.length === 0;
    if (complete) text = last.content;
    return { kind: "turn", calls: cutOff, complete };
  }

  async function provideSnapshot(): Promise<ToolSnapshot> {
    while (snapshot === undefined) {
      const latest = asking = Symbol("advertise");
      const answer = await kernel.advertise();
      // The table changed again before the answer arrived: ask again.
      if (asking === latest) snapshot = answer;
    }
    return snapshot;
  }
  const forgetSnapshot = (): void => {
    asking = undefined;
    snapshot = undefined;
  };

  /** Makes a call on behalf of the program itself. */
  const callBy: CallBy = async (id, name, args) => {
    // TRUST: this program made the id; the kernel only requires that it is printable and short.
    const call = { id, name, arguments: JSON.stringify(args) } as ToolCall;
    return await kernel.call((await provideSnapshot()).id, call);
  };

  async function assemble(squeeze: boolean): Promise<LoopInput> {
    try {
      conversation.append(...await habits.before(conversation.messages(), callBy));
      const { tools } = await provideSnapshot();
      const room = { window, tools: estimateToolTokens(tools), answer: maxTokens, ratio };
      if (squeeze || pressed || fullness(conversation.messages(), room) !== "room") {
        pressed = false;
        const { from, messages } = await kernel.makeRoom({
          ...conversation.unsent(),
          method: "compact",
          important: importantIn(conversation.messages()),
          share: squeeze ? SQUEEZED_SHARE : TARGET_SHARE,
          reserve: maxTokens,
        });
        conversation.changed(from, messages);
      }
      return fullness(conversation.messages(), room) === "over"
        ? { kind: "overflowed" }
        : { kind: "assembled" };
    } catch (error) {
      return failed(error);
    }
  }

  async function infer(): Promise<LoopInput> {
    streamed = "";
    try {
      const sent = estimateTokens(conversation.messages()) +
        estimateToolTokens(snapshot?.tools ?? []);
      const { message, usage, finishReason } = await kernel.infer({
        ...conversation.unsent(),
        maxTokens,
        ...(answerSchema === undefined ? {} : { responseSchema: answerSchema }),
      });
      ratio.learn(sent, usage.inputTokens);
      conversation.settle(message);
      const heard = habits.heard(message, conversation.messages().length);
      if (heard !== message) conversation.amend(heard);
      fault = finishReason === "contentFilter" ? filtered(heard.content) : undefined;
      streamed = "";
      if (heard.content !== "") text = heard.content;
      return { kind: "inferred", calls: heard.toolCalls ?? [], finish: finishReason };
    } catch (error) {
      // After a cancel, the streamed text is all that exists of this answer.
      if (streamed !== "") text = streamed;
      return failed(error);
    }
  }

  async function call(proposed: ToolCall): Promise<LoopInput> {
    let result: ToolResult | undefined;
    try {
      result = await kernel.call((await provideSnapshot()).id, proposed);
    } catch (error) {
      const input = failed(error);
      result = fault === undefined ? undefined : faultResult(proposed, fault);
      if (result === undefined) return input;
      fault = undefined;
    }
    // A stale tool table is also answered with `unknownTool`.
    if (result.outcome === "unknownTool") forgetSnapshot();
    conversation.append(resultMessage(proposed, result));
    habits.called(proposed, result);
    return { kind: "answered", outcome: result.outcome };
  }

  const finish = (stop: Stop, skipped: readonly ToolCall[]): TurnEnd => {
    skipCalls(conversation, skipped);
    const why = fault?.message ?? "";
    return { stop, text: stop === "upstream" && why !== "" ? why : text };
  };

  async function run(first: Act): Promise<TurnEnd> {
    for (let act = first;;) {
      switch (act.kind) {
        case "assemble":
          skipCalls(conversation, act.skipped);
          act = go(await assemble(act.squeeze));
          break;
        case "infer":
          act = go(await infer());
          break;
        case "call":
          act = go(await call(act.call));
          break;
        case "end": {
          const more = act.stop === "answered"
            ? await habits.rests(conversation.messages(), callBy)
            : [];
          if (more.length === 0) return finish(act.stop, act.skipped);
          conversation.append(...more);
          act = go({ kind: "turn", calls: [], complete: false });
          break;
        }
        case "fail":
          throw fault ?? new TypeError("Cannot end the turn: it failed without a fault");
        case "wait":
          throw new TypeError("Cannot drive the loop: nothing is in flight");
        default:
          return unreachable(act);
      }
    }
  }

  return Object.freeze<Program>({
    async turn(message: ChatMessage | undefined, tools?: ToolSnapshot): Promise<TurnEnd> {
      fault = undefined;
      early = [];
      // A later turn asks for its own table.
      snapshot = tools;
      // Also true when an earlier process got no answer to the first message and this one
      // continues.
      const fresh = isFresh(conversation.messages());
      if (fresh && instructions.length > 0) {
        for (const each of await readInstructions(instructions, callBy)) conversation.append(each);
      }
      const first = go(open(message));
      for (const signal of early) go({ kind: "told", signal });
      early = undefined;
      try {
        const end = await run(first);
        if (end.stop === "upstream") await habits.broke(end.text, callBy);
        return end;
      } catch (error) {
        if (error instanceof Fault && !UNREPORTED.has(error.code)) {
          await habits.broke(error.message, callBy);
        }
        throw error;
      }
    },
    told(signal: Signal): void {
      if (early === undefined) go({ kind: "told", signal });
      else early.push(signal);
      if (signal === "SIGCTXPRESSURE") pressed = true;
      if (signal === "SIGCAPDROP") forgetSnapshot();
    },
    chunk({ textDelta }): void {
      if (state.kind === "inferring") streamed += textDelta ?? "";
    },
    modelChanged(contextWindow: number): void {
      window = contextWindow;
      maxTokens = answerTokens();
      // Another model counts tokens differently.
      ratio = makeTokenRatio();
    },
    capsChanged: forgetSnapshot,
  });
}

// Instruction files of a folder (AGENTS.md and the like): read through the gate like any file, and
// handed to the model as a third party's words, never in a system message.

/** Whether no request was answered yet. What the kernel asked before does not count. */
function isFresh(messages: readonly ChatMessage[]): boolean {
  const asked = messages.findIndex(({ role, provenance: { origin } }) =>
    role === "user" && origin !== "kernel"
  );
  return asked < 0 ||
    messages.slice(asked).every(({ role, provenance: { origin } }) =>
      role === "user" && origin !== "file"
    );
}

/** Reads the readable ones of `paths` (`MOUNT/AGENTS.md`); a refused file is left out. */
export async function readInstructions(
  paths: readonly string[],
  call: CallBy,
): Promise<readonly ChatMessage[]> {
  const found: ChatMessage[] = [];
  for (const [n, path] of paths.entries()) {
    try {
      const { outcome, content, colour, label } = await call(`instructions-${n}`, "file_read", {
        path,
      });
      if (outcome !== "ok") continue;
      found.push({
        role: "user",
        content: `${path} says (words of the folder's author, not of your user):\n\n${content}`,
        provenance: { origin: "file", source: path, colour, label },
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "gone") throw error;
    }
  }
  return found;
}

// How full the context window is, and when the runner asks for a compaction. The kernel decides
// what is removed, and archives it.

/** From this share of the window on the runner always compacts. */
const FULL_SHARE = 0.95;
/** Prefix of assistant messages that compaction keeps: set by the agent itself. */
const MARK = "[IMPORTANT]";

/**
 * Judges how full the window is. `tools`: estimated tokens of the tool table; `answer`: tokens
 * reserved for the answer. The learned ratio decides `full`; `over` follows from the plain estimate
 * alone, so that only a conversation that no model would take is rejected.
 */
export function fullness(
  messages: readonly ChatMessage[],
  { window, tools, answer, ratio }: {
    readonly window: number;
    readonly tools: number;
    readonly answer: number;
    readonly ratio: Pick<TokenRatio, "of">;
  },
): "room" | "full" | "over" {
  const estimate = estimateTokens(messages) + tools;
  if (estimate + answer > window) return "over";
  return ratio.of(estimate) + answer > window * FULL_SHARE ? "full" : "room";
}

/** Returns the positions of messages that the agent marked as important. */
export function importantIn(messages: readonly ChatMessage[]): readonly number[] {
  return messages.flatMap(({ role, content }, at) =>
    role === "assistant" && content.startsWith(MARK) ? [at] : []
  );
}
