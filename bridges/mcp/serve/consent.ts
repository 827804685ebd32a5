/**
 * Consent of the host's person through elicitation, where the profile allows it. The sealed state
 * of a round names the one question asked; an answer to another counts for nothing.
 * @module
 */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ServeResult } from "../../../contracts/wire/wire_serve.ts";

const KEY = "consent";
const MAX_SHOWN = 4_096;

/** The call and question of a round. */
export const Round = z.object({
  call: z.string().min(1).max(128),
  question: z.string().min(1).max(16).optional(),
}).strict();
/** A parsed {@link Round}. */
export type Round = z.infer<typeof Round>;

/** Seals rounds with a key of this process; states of another holder, method or process are refused. */
export function makeRounds(key: Uint8Array): RequestStateCodec<Round> {
  return createRequestStateCodec<Round>({
    key,
    ttlSeconds: 3_600,
    bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`,
  });
}

/** Asks the host's person the question of a call. */
export async function askPerson(
  { waiting }: ServeResult & { readonly waiting: NonNullable<ServeResult["waiting"]> },
  rounds: RequestStateCodec<Round>,
  at: { readonly call: string; readonly context: ServerContext },
): Promise<InputRequiredResult> {
  return inputRequired({
    requestState: await rounds.mint({ call: at.call, question: waiting.question }, at.context),
    inputRequests: {
      [KEY]: inputRequired.elicit({
        message: `Allow this once? ${waiting.summary}`.slice(0, MAX_SHOWN),
        requestedSchema: {
          type: "object",
          properties: {
            allow: {
              type: "boolean",
              title: "Allow",
              description: "Yes lets exactly this happen, once.",
              default: false,
            },
          },
          required: ["allow"],
        },
      }),
    },
  });
}

/** The person's answer; undefined without one. Anything but a clear yes is a no. */
export function answerIn(context: ServerContext): boolean | undefined {
  const { inputResponses } = context.mcpReq;
  if (inputResponse(inputResponses, KEY).kind !== "elicit") return undefined;
  const content = acceptedContent(inputResponses, KEY, z.object({ allow: z.boolean() }));
  return content?.allow === true;
}

const Declared = z.object({
  elicitation: z.object({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() })
    .optional(),
}).catch({});

/** Whether the host can show a form to its person. */
export function canElicit(context: ServerContext, legacy: object | undefined): boolean {
  const envelope = z.record(z.string(), z.unknown()).catch({}).parse(context.mcpReq.envelope ?? {});
  const { elicitation } = Declared.parse(envelope[CLIENT_CAPABILITIES_META_KEY] ?? legacy ?? {});
  // A host that names no mode supports forms.
  return elicitation !== undefined &&
    (elicitation.form !== undefined || elicitation.url === undefined);
}
