/**
 * The kernel's operations on an open server: listing, calls, resources, prompts, completions. Used
 * by bridge.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type JsonObject } from "../../../contracts/base/json.ts";
import type { ServerListing } from "../../../contracts/exchange/mcp.ts";
import type { McpCall, McpCallResult } from "../../../contracts/wire/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import { type Calls, type Clock, LISTING } from "./calls.ts";
import type { Connection } from "./connect.ts";
import { cutText, LISTING_MS } from "./limits.ts";
import type { KernelSide } from "./kernel_side.ts";
import type { Ask, Behalf } from "./requests.ts";
import { promptResult, resourceResult } from "./tool/result.ts";
import { askVisits, callAsTask, callParams, callResult, makeToolList } from "./tool/call.ts";
import { readListing } from "./listing/listing.ts";

interface ServerOpsParts {
  readonly connection: () => Connection;
  readonly kernel: Pick<KernelSide, "progress" | "elicit">;
  readonly calls: Calls;
  readonly clock: Pick<Clock, "after">;
  readonly ask: Ask;
  /** Whether the server may ask the person for input. */
  readonly elicitation: () => boolean;
}

interface Timed {
  readonly id: string;
  readonly deadlineMs: number;
}

interface Read extends Timed {
  readonly uri: string;
}

interface Prompt extends Timed {
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

interface Complete extends Timed {
  readonly ref: { readonly prompt: string } | { readonly template: string };
  readonly argument: string;
  readonly value: string;
}

/** Completions that are passed on, and units of each, at most. */
const MAX_VALUES = 100;
const MAX_VALUE_UNITS = 1_024;

/** Makes the operations, by name. An unknown name rejects with `invalidInput`. */
export function makeServerOps(
  { connection, kernel, calls, clock, ask, elicitation }: ServerOpsParts,
): (op: string, body: unknown) => Promise<object> {
  const tools = makeToolList();

  /** Runs one operation within its deadline; progress goes to the kernel under the operation's id. */
  function during<T>(
    { id, deadlineMs }: Timed,
    verb: string,
    work: (behalf: Behalf) => Promise<T>,
  ): Promise<T> {
    return calls.run(
      { id, deadlineMs, verb },
      ({ signal }) => work({ signal, verb, hear: (progress) => kernel.progress(id, progress) }),
    );
  }

  let listing: Promise<unknown> = Promise.resolve();
  /** Listings run one after another: a listing asked for after a change must not return an older one. */
  function words(): Promise<ServerListing> {
    const next = listing.then(readAll, readAll);
    listing = next;
    return next;
  }

  function readAll(): Promise<ServerListing> {
    const verb = "list what the server offers";
    return calls.run({ id: LISTING, deadlineMs: LISTING_MS, verb }, ({ signal }) => {
      tools.clear();
      return readListing({
        async page(method, cursor) {
          const params = cursor === undefined ? {} : { cursor };
          const page = await ask(method, params, { signal, verb });
          if (method === "tools/list") tools.note(page);
          return page;
        },
      }, connection().introduction);
    });
  }

  function call(asked: McpCall): Promise<McpCallResult> {
    const verb = `call tool ${JSON.stringify(cutText(asked.tool, 80))}`;
    return during(asked, verb, async (behalf) => {
      if (offersTasks(connection().capabilities) && !tools.known()) {
        await tools.read((method, page) => ask(method, page, behalf));
      }
      const params = callParams(asked);
      const { deadlineMs } = asked;
      const answer = tools.needsTask(asked.tool)
        ? await callAsTask({ ask, clock }, params, { ...behalf, deadlineMs })
        : await ask("tools/call", params, behalf);
      return callResult(asked, answer);
    }).catch((error) => {
      if (!(error instanceof Fault) || !elicitation()) throw error;
      return askVisits(error, { call: asked.id, kernel });
    });
  }

  const read = (asked: Read): Promise<McpCallResult> =>
    during(
      asked,
      "read the resource",
      async (behalf) => resourceResult(await ask("resources/read", { uri: asked.uri }, behalf)),
    );

  const get = (asked: Prompt): Promise<McpCallResult> =>
    during(asked, "get the prompt", async (behalf) => {
      const params = { name: asked.name, arguments: asJson(asked.args) };
      return promptResult(await ask("prompts/get", params, behalf));
    });

  function complete(asked: Complete): Promise<{ readonly values: readonly string[] }> {
    const { ref, argument, value } = asked;
    const params = {
      ref: "prompt" in ref
        ? { type: "ref/prompt", name: ref.prompt }
        : { type: "ref/resource", uri: ref.template },
      argument: { name: argument, value },
    };
    return during(asked, "complete the argument", async (behalf) => {
      const { completion } = await ask("completion/complete", params, behalf);
      const values = isObject(completion) ? completion["values"] : undefined;
      return {
        values: (Array.isArray(values) ? values : [])
          .filter((given) => typeof given === "string" && given.length <= MAX_VALUE_UNITS)
          .slice(0, MAX_VALUES) as readonly string[],
      };
    });
  }

  // TRUST: bodies come from the kernel, which has parsed them.
  return (op, body) => {
    switch (op) {
      case "words":
        return words();
      case "call":
        return call(body as McpCall);
      case "read":
        return read(body as Read);
      case "prompt":
        return get(body as Prompt);
      case "complete":
        return complete(body as Complete);
      default: {
        const unknown = `Cannot serve ${JSON.stringify(op)}: unknown here`;
        return Promise.reject(new Fault("invalidInput", unknown));
      }
    }
  };
}

function offersTasks(capabilities: JsonObject): boolean {
  const { tasks } = capabilities;
  const requests = isObject(tasks) ? tasks["requests"] : undefined;
  const calls = isObject(requests) ? requests["tools"] : undefined;
  return isObject(calls) && calls["call"] !== undefined;
}
