/**
 * Consent of the host's own person, through elicitation. It is asked only where the profile says so and for one
 * question, which the sealed state of the round names: what comes back for another one counts for nothing.
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
const SHOWN = 4_096;

/** What a round is about. */
export const Round = z.object({
  call: z.string().min(1).max(128),
  question: z.string().min(1).max(16).optional(),
}).strict();
/** See {@link Round}. */
export type Round = z.infer<typeof Round>;

/** Seals rounds with a key of this process: a state of another holder, method or process is refused. */
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
        message: `Allow this once? ${waiting.summary}`.slice(0, SHOWN),
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

/** What the person said; undefined when nothing was said of it. Anything but a clear yes is a no. */
export function saidIn(context: ServerContext): boolean | undefined {
  const { inputResponses } = context.mcpReq;
  if (inputResponse(inputResponses, KEY).kind !== "elicit") return undefined;
  const said = acceptedContent(inputResponses, KEY, z.object({ allow: z.boolean() }));
  return said?.allow === true;
}

const Declared = z.object({
  elicitation: z.object({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() })
    .optional(),
}).catch({});

/** Whether the host can put a form to its person. */
export function canElicit(context: ServerContext, legacy: object | undefined): boolean {
  const envelope = z.record(z.string(), z.unknown()).catch({}).parse(context.mcpReq.envelope ?? {});
  const { elicitation } = Declared.parse(envelope[CLIENT_CAPABILITIES_META_KEY] ?? legacy ?? {});
  // A host that names no mode has forms.
  return elicitation !== undefined &&
    (elicitation.form !== undefined || elicitation.url === undefined);
}
