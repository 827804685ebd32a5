/**
 * The JavaScript that runs before every program and script. It is evaluated once, when the engine
 * is built; the resulting memory is the engine.
 * @module
 */
import { makeConsole, makeLog } from "./console.ts";
import type { Evaluate } from "./evaluate.ts";
import { failedText, thrownText } from "./failure.ts";
import { faultError, makeHostCall, type RawCall } from "./host.ts";
import {
  fix,
  MakeMap,
  mapDelete,
  mapForEach,
  mapSet,
  mapSize,
  own,
  parseJson,
  promiseOf,
  put,
  then,
} from "./primordials.ts";
import { makeRemit } from "./remit_api.ts";
import { resultText } from "./result_text.ts";
import { makeStarter, type Strip } from "./start.ts";
import { addStructuredClone } from "./structured_clone.ts";
import { addTextCodec, type Utf8 } from "./text_codec.ts";
import { makeTimers } from "./timers.ts";

/** The state of a call; `thrown`: by the program, not by the prelude. */
interface State {
  kind: "running" | "done" | "failed" | "thrown";
  value: unknown;
}

/** Maximum unhandled rejections kept until the end of a call. */
const REJECTIONS = 20;

/** Adds globals that programs and libraries expect, and removes dangerous ones. */
function tidyGlobals(target: object, utf8: Utf8): void {
  // A program could set it to receive the functions on the stack, the prelude's among them.
  Object.defineProperty(Error, "prepareStackTrace", {
    value: undefined,
    writable: false,
    configurable: false,
  });
  addTextCodec(target, utf8);
  addStructuredClone(target);
  put(target, "self", target);
}

/**
 * Makes the one function that the glue calls: with the input it begins a call, without arguments it
 * continues after all jobs, with three it records a rejection. A text is the answer, after `.`, or
 * after `!` where the instance is unusable.
 */
function makeStep(
  raw: RawCall,
  evaluate: Evaluate,
  setClock: (ms: number) => void,
  loadStripper: () => Strip,
  encode: Utf8["encode"],
  decode: Utf8["decode"],
) {
  const host = makeHostCall(raw);
  const remit = makeRemit(host);
  const log = makeLog((args) => host("log", args));
  const timers = makeTimers(globalThis, setClock);
  const rejections = new MakeMap<unknown, unknown>();
  const starter = makeStarter({ target: globalThis, evaluate, loadStripper, remit });
  let state: State = { kind: "done", value: undefined };
  fix(globalThis, "remit", remit);
  put(globalThis, "console", makeConsole(log));
  tidyGlobals(globalThis, { encode, decode });

  const begin = (text: string): void => {
    const mine: State = { kind: "running", value: undefined };
    state = mine;
    log.begin();
    timers.begin();
    const settle = (kind: State["kind"], value: unknown): void => {
      if (mine.kind !== "running") return;
      mine.kind = kind;
      mine.value = value;
    };
    const awaitValue = (value: unknown): void => {
      try {
        then(
          promiseOf(value),
          (done) => settle("done", done),
          (reason) => settle("thrown", reason),
        );
      } catch (error) {
        settle("thrown", error);
      }
    };
    try {
      const input = parseJson(text);
      const started = starter.start(own(input, "op"), own(input, "args"));
      const script = own(started, "script");
      if (script === undefined) return awaitValue(own(started, "body"));
      // QuickJS wraps a program's own promise, too, so that it is not awaited.
      then(
        script as Promise<unknown>,
        (done) => awaitValue(own(done, "value")),
        (reason) => settle("thrown", reason),
      );
    } catch (error) {
      settle("failed", error);
    }
  };

  const answer = (): string => {
    mapForEach(rejections, (reason, promise) => {
      mapDelete(rejections, promise);
      if (state.value !== reason) {
        log.line("error: a rejection that nobody handled: " + thrownText(reason));
      }
    });
    try {
      if (state.kind === "thrown") {
        return failedText(state.value, { byProgram: !starter.isScript() });
      }
      if (state.kind === "failed") return failedText(state.value, { byProgram: false });
      return `.{"ok":true,"value":${resultText(state.value)}}`;
    } catch (error) {
      return failedText(error, { byProgram: false });
    }
  };

  const go = (): string | undefined => {
    try {
      if (state.kind === "running") {
        if (timers.next()) return undefined;
        state.kind = "failed";
        state.value = faultError(
          "upstream",
          "Cannot finish: the result is a promise that never settles, and nothing is left to do",
        );
      }
    } catch (error) {
      log.line("error: a timer failed: " + thrownText(error));
      return undefined;
    }
    return answer();
  };

  return (...given: unknown[]): string | undefined => {
    if (given.length === 0) return go();
    if (given.length === 3) {
      if (given[2] !== 0) mapDelete(rejections, given[0]);
      else if (mapSize(rejections) < REJECTIONS) mapSet(rejections, given[0], given[1]);
      return undefined;
    }
    begin(given[0] as string);
    return undefined;
  };
}

Object.assign(globalThis, { __made: makeStep });
