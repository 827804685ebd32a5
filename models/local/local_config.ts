/** Reads the configuration of a local model, which the kernel validated before. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { ChatTemplateName, LocalConfig } from "../../contracts/model/model_config.ts";

/** The part of {@link LocalConfig} that opening an engine needs. */
export type LocalSettings = Omit<LocalConfig, "engine" | "weights"> & {
  /** SHA-256, hex. */
  readonly weights: string;
};

/** A chat template. */
export interface ChatTemplate {
  /** Jinja. Excludes the token that begins every input, which engines add. */
  readonly jinja: string;
  /** Ends a turn, even where the weights do not list it as a control token. */
  readonly stop: readonly string[];
  /** Must not occur in untrusted text: each would open or close a turn. */
  readonly marks: readonly string[];
}

const turns = (open: string, close: string, answer: string): string =>
  `{% for m in messages %}${open}{{ m.content }}${close}{% endfor %}` +
  `{% if add_generation_prompt %}${answer}{% endif %}`;

const TEMPLATES: Readonly<Record<ChatTemplateName, ChatTemplate>> = {
  chatml: {
    jinja: turns("<|im_start|>{{ m.role }}\n", "<|im_end|>\n", "<|im_start|>assistant\n"),
    stop: ["<|im_end|>"],
    marks: ["<|im_start|>", "<|im_end|>"],
  },
  gemma: {
    jinja: turns(
      "<start_of_turn>{{ 'model' if m.role == 'assistant' else 'user' }}\n",
      "<end_of_turn>\n",
      "<start_of_turn>model\n",
    ),
    stop: ["<end_of_turn>"],
    marks: ["<start_of_turn>", "<end_of_turn>"],
  },
  llama3: {
    jinja: turns(
      "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n",
      "<|eot_id|>",
      "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    stop: ["<|eot_id|>"],
    marks: ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
  },
};

/**
 * The template that remit.yaml names for the weights; undefined to use the weights' own.
 *
 * @throws Fault `invalidInput` for weights without a template: a base model continues text and knows no turns
 */
export function namedTemplate(
  { template, name }: Pick<LocalSettings, "template" | "name">,
  own: string | undefined,
): ChatTemplate | undefined {
  if (template !== undefined) {
    const known = Object.entries(TEMPLATES).find(([each]) => each === template)?.[1];
    const marks = template.match(/<[^<>\s{}]{1,64}>/g) ?? [];
    return known ?? { jinja: template, stop: [], marks };
  }
  if (own !== undefined) return undefined;
  throw new Fault(
    "invalidInput",
    `Cannot use "${name}" for an agent: it is a base model, whose weights bring no chat template; take its ` +
      'instruction-tuned version, or, where it was taught a form, write "template: chatml" (or gemma, llama3, or ' +
      "Jinja) for this model in remit.yaml",
  );
}

/** Throws `invalidInput` if `config` is not the JSON of a {@link LocalConfig}. */
export function readLocalConfig(config: string): LocalSettings {
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot open the local model: its configuration ${why}`);
  let fields: Partial<Record<keyof LocalConfig, unknown>>;
  try {
    const parsed: unknown = JSON.parse(config);
    if (typeof parsed !== "object" || parsed === null) throw new SyntaxError("no object");
    fields = parsed;
  } catch (cause) {
    throw new Fault("invalidInput", wrong("is no JSON object").message, { cause });
  }
  const { name, weights, bytes } = fields;
  if (typeof name !== "string" || typeof bytes !== "number") {
    throw wrong("lacks `name` or `bytes`");
  }
  if (typeof weights !== "string" || !/^(sha256:)?[0-9a-f]{64}$/.test(weights)) {
    throw wrong("has no digest of weights");
  }
  const number = (key: "contextTokens" | "outputTokens" | "temperature" | "seed") => {
    const value = fields[key];
    if (value === undefined) return {};
    if (typeof value !== "number") throw wrong(`has a \`${key}\` that is no number`);
    return { [key]: value };
  };
  const { template, callFirst } = fields;
  if (template !== undefined && typeof template !== "string") {
    throw wrong("has a `template` that is no text");
  }
  return {
    name,
    bytes,
    ...(template === undefined ? {} : { template }),
    ...(callFirst === true ? { callFirst } : {}),
    weights: weights.replace("sha256:", ""),
    ...number("contextTokens"),
    ...number("outputTokens"),
    ...number("temperature"),
    ...number("seed"),
    ...(Array.isArray(fields.dialect) ? { dialect: fields.dialect } : {}),
  };
}
