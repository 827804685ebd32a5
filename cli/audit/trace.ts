/** The execution trace: JSON lines of what was observed, without the model's thoughts. @module */
import { argumentsOf, numberOf, type SeenEvent, textOf } from "./event_fields.ts";

/** One line of the trace. */
export type TraceLine = Readonly<Record<string, unknown>> & { readonly type: string };

function stamp(event: SeenEvent): { readonly ts: string; readonly n: number } {
  return { ts: new Date(event.at).toISOString(), n: event.n };
}

/** The advisor's notes on a call or question. */
function adviceIn(from: unknown): { readonly advice?: readonly string[] } {
  if (typeof from !== "object" || from === null) return {};
  const { advice } = from as { readonly advice?: unknown };
  if (!Array.isArray(advice) || advice.length === 0) return {};
  return { advice: advice.filter((each) => typeof each === "string") };
}

/** Makes trace lines of events, and sums up the money spent. `budget` is in US dollars. */
export function makeTracer(budget: number): (event: SeenEvent) => readonly TraceLine[] {
  let spent = 0;
  return (event) => {
    const common = stamp(event);
    const tool = textOf(event, "tool");
    const call = textOf(event, "call");
    switch (event.event) {
      case "intent":
        return [{ type: "tool_call", tool, call, args: argumentsOf(event), ...common }];
      case "outcome":
      case "refused": {
        const status = textOf(event, "outcome");
        const rule = textOf(event, "rule");
        const why = textOf(event, "why") || textOf(event, "error");
        const result: TraceLine = {
          type: "tool_result",
          tool,
          call,
          status,
          ...(event.body["resultBytes"] === undefined
            ? {}
            : { bytes: numberOf(event, "resultBytes") }),
          ...(rule === "" ? {} : { rule }),
          ...(why === "" ? {} : { why }),
          ...adviceIn(event.private),
          ...common,
        };
        // A call with an effect was announced by its intent already.
        const announced = event.body["intent"] === true;
        return announced
          ? [result]
          : [{ type: "tool_call", tool, call, args: argumentsOf(event), ...common }, result];
      }
      case "inferred":
        spent += numberOf(event, "money");
        return [{
          type: "budget",
          model: textOf(event, "model"),
          input_tokens: numberOf(event, "inputTokens"),
          output_tokens: numberOf(event, "outputTokens"),
          spent_usd: spent,
          remaining_usd: Math.max(0, budget - spent),
          ...common,
        }];
      case "taskIntake": {
        const { pid: _pid, ...body } = event.body;
        return [{ type: "intake", ...body, ...event.private, ...common }];
      }
      case "questionAsked":
        return [{
          type: "decision",
          action: "ask",
          target: textOf(event, "question"),
          ...adviceIn(event.private["question"]),
          ...common,
        }];
      case "questionAnswered":
        return [{
          type: "decision",
          action: textOf(event, "decision"),
          target: textOf(event, "question"),
          reason: textOf(event, "by") || textOf(event, "actor"),
          ...common,
        }];
      default:
        return [{ type: "event", event: event.event, ...event.body, ...common }];
    }
  };
}
