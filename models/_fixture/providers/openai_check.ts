/** Refuses what OpenAI's chat completions refuse, with their messages and those of compatible servers. @module */
import { locked, type OpenaiOptions } from "./openai.ts";
import { openaiFailed, type OpenaiWrong } from "./openai_errors.ts";
import { wrongStrictSchema } from "./openai_schema.ts";
import { asFields, asList, type Fields } from "./provider.ts";
import type { Failed } from "./script.ts";
import type { Received } from "./server.ts";

const KNOWN: ReadonlySet<string> = new Set(
  ("model messages stream stream_options max_tokens max_completion_tokens temperature top_p n stop seed tools " +
    "tool_choice parallel_tool_calls response_format user presence_penalty frequency_penalty logit_bias logprobs " +
    "top_logprobs reasoning_effort metadata store service_tier verbosity modalities prompt_cache_key safety_identifier")
    .split(" "),
);

type Wrong = readonly [message: string, particulars?: OpenaiWrong];

/** Why the request is refused; undefined for a valid request. */
export function checkOpenai(
  fields: Fields,
  received: Received,
  options: OpenaiOptions,
): Failed | undefined {
  const refused = locked(received, options);
  if (refused !== undefined) return refused;
  const { variant = "openai", model } = options;
  if (model !== undefined && fields.model !== model) {
    const message = `The model \`${
      String(fields.model)
    }\` does not exist or you do not have access to it.`;
    return openaiFailed(variant, 404, message, { code: "model_not_found" });
  }
  const why = wrongTop(fields, options) ?? wrongTools(fields.tools, fields.tool_choice) ??
    wrongFormat(fields.response_format) ?? wrongMessages(asList(fields.messages));
  return why === undefined ? undefined : openaiFailed(variant, 400, ...why);
}

function wrongTop(
  fields: Fields,
  { reasoning, maxTokens = 16_384 }: OpenaiOptions,
): Wrong | undefined {
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) {
    return [`Unknown parameter: '${unknown}'.`, { param: unknown, code: "unknown_parameter" }];
  }
  if (typeof fields.model !== "string") return ["you must provide a model parameter"];
  if (fields.stream !== true) return ["the fixture streams only"];
  for (const name of ["max_tokens", "max_completion_tokens"]) {
    const most = fields[name];
    if (most === undefined) continue;
    if (typeof most !== "number" || !Number.isInteger(most) || most < 1) {
      return [`Invalid type for '${name}': expected an integer.`, { param: name }];
    }
    if (most > maxTokens) {
      return [
        `max_tokens is too large: ${most}. This model supports at most ${maxTokens} completion tokens.`,
        {
          param: name,
          code: "invalid_value",
        },
      ];
    }
  }
  if (reasoning === true) {
    if (fields.max_tokens !== undefined) {
      return [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: "max_tokens", code: "unsupported_parameter" },
      ];
    }
    if (fields.temperature !== undefined && fields.temperature !== 1) {
      return ["Unsupported value: 'temperature' does not support this value with this model.", {
        param: "temperature",
        code: "unsupported_value",
      }];
    }
  }
  if (asList(fields.stop).length > 4) {
    return ["Invalid 'stop': array too long. Expected an array with maximum length 4.", {
      param: "stop",
      code: "array_above_max_length",
    }];
  }
  if (asList(fields.messages).length === 0) {
    return ["Invalid 'messages': empty array. Expected an array with minimum length 1.", {
      param: "messages",
    }];
  }
  return undefined;
}

const FUNCTION = /^[a-zA-Z0-9_-]+$/;

function wrongName(name: unknown, param: string): Wrong | undefined {
  if (typeof name !== "string" || !FUNCTION.test(name)) {
    return [
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${FUNCTION.source}'.`,
      { param, code: "invalid_value" },
    ];
  }
  if (name.length > 64) {
    return [
      `Invalid '${param}': string too long. Expected a string with maximum length 64, but got ${name.length} instead.`,
      { param, code: "string_above_max_length" },
    ];
  }
  return undefined;
}

function wrongTools(tools: unknown, choice: unknown): Wrong | undefined {
  if (tools === undefined) {
    return choice === undefined
      ? undefined
      : ["Invalid value for 'tool_choice': it is only allowed when 'tools' are specified.", {
        param: "tool_choice",
      }];
  }
  if (!Array.isArray(tools) || tools.length === 0 || tools.length > 128) {
    return [`Invalid 'tools': expected an array with length 1 to 128.`, { param: "tools" }];
  }
  for (const [at, tool] of tools.entries()) {
    const { name, description, parameters } = asFields(asFields(tool)?.function) ?? {};
    const wrong = wrongName(name, `tools[${at}].function.name`);
    if (wrong !== undefined) return wrong;
    const long = typeof description === "string" ? description.length : 0;
    if (long > 1_024) {
      const param = `tools[${at}].function.description`;
      return [
        `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length ${long} instead.`,
        { param, code: "string_above_max_length" },
      ];
    }
    const why = wrongParameters(parameters);
    if (why !== undefined) {
      return [`Invalid schema for function '${String(name)}': ${why}`, {
        param: `tools[${at}].function.parameters`,
        code: "invalid_function_parameters",
      }];
    }
  }
  return undefined;
}

/** Parts of a schema that are refused even where it is not strict. */
function wrongParameters(parameters: unknown): string | undefined {
  const root = asFields(parameters);
  const banned = ["oneOf", "anyOf", "allOf", "enum", "not"].some((key) =>
    root?.[key] !== undefined
  );
  if (root?.type !== "object" || banned) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  return listWithoutItems(root, []);
}

function listWithoutItems(schema: unknown, path: readonly string[]): string | undefined {
  const fields = asFields(schema);
  if (fields === undefined) return undefined;
  if (path.length / 2 > 10) return "schema is nested too deeply.";
  if (fields.type === "array" && fields.items === undefined) {
    const context = path.map((part) => `'${part}'`).join(", ");
    return `In context=(${context}), array schema missing items.`;
  }
  return Object.entries(asFields(fields.properties) ?? {})
    .map(([name, value]) => listWithoutItems(value, [...path, "properties", name]))
    .find((why) => why !== undefined);
}

function wrongFormat(format: unknown): Wrong | undefined {
  const given = asFields(format);
  if (given === undefined || given.type === "text" || given.type === "json_object") {
    return undefined;
  }
  const { name, schema, strict } = asFields(given.json_schema) ?? {};
  const wrong = wrongName(name, "response_format.json_schema.name");
  if (wrong !== undefined) return wrong;
  if (asFields(schema) === undefined) {
    return ["Missing required parameter: 'response_format.json_schema.schema'."];
  }
  const why = strict === true ? wrongStrictSchema(schema) : undefined;
  return why === undefined ? undefined : [
    `Invalid schema for response_format '${String(name)}': ${why}`,
    { param: "response_format" },
  ];
}

function wrongMessages(messages: readonly unknown[]): Wrong | undefined {
  let open: string[] = [];
  for (const [at, value] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: answered } = asFields(value) ?? {};
    const param = `messages.[${at}].role`;
    if (role === "tool") {
      if (typeof answered !== "string" || !open.includes(answered)) {
        return [
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          { param },
        ];
      }
      open = open.filter((id) => id !== answered);
    } else if (open.length > 0) return unanswered(open, param);
    if (!["system", "developer", "user", "assistant", "tool"].includes(String(role))) {
      return [
        `Invalid value: '${
          String(role)
        }'. Supported values are: 'system', 'assistant', 'user', 'tool'.`,
        {
          param,
          code: "invalid_value",
        },
      ];
    }
    const list = asList(calls);
    if (Array.isArray(calls) && list.length === 0) {
      return [`Invalid 'messages[${at}].tool_calls': empty array.`, { code: "empty_array" }];
    }
    if (list.length > 128) {
      return [
        `Invalid 'messages[${at}].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length ${list.length} instead.`,
        { code: "array_above_max_length" },
      ];
    }
    if (typeof content !== "string" && !Array.isArray(content) && list.length === 0) {
      return [`Invalid value for 'content': expected a string, got null.`, {
        param: `messages.[${at}].content`,
      }];
    }
    for (const [index, one] of list.entries()) {
      const { id, type, function: given } = asFields(one) ?? {};
      const where = `messages[${at}].tool_calls[${index}]`;
      if (typeof id !== "string" || id === "") {
        return [`Missing required parameter: '${where}.id'.`];
      }
      if (id.length > 40) {
        return [
          `Invalid '${where}.id': string too long. Expected a string with maximum length 40.`,
          {
            param: `${where}.id`,
            code: "string_above_max_length",
          },
        ];
      }
      if (open.includes(id)) return [`Duplicate value for 'tool_call_id' of '${id}'`];
      if (type !== "function") return [`Missing required parameter: '${where}.type'.`];
      const { name, arguments: args } = asFields(given) ?? {};
      const wrong = wrongName(name, `${where}.function.name`);
      if (wrong !== undefined) return wrong;
      if (typeof args !== "string") {
        return [`Invalid type for '${where}.function.arguments': expected a string.`];
      }
      open.push(id);
    }
  }
  return open.length > 0 ? unanswered(open, `messages.[${messages.length - 1}].role`) : undefined;
}

function unanswered(ids: readonly string[], param: string): Wrong {
  return [
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
    { param },
  ];
}
