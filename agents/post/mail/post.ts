/** The tools over an agent's inbox. Messages carry descriptions of capabilities; adopting one derives a lease. @module */
import { mixTaints } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { MAIL_SCHEMA, PetName as PetNameSchema } from "../../../contracts/exchange/mail.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type {
  Box,
  Edge,
  Mail,
  MailRecord,
  MessageKind,
  PetName,
  Reference,
} from "../../../contracts/exchange/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { decodeXJson, encodeXJson, type XJson } from "../../../port/xjson.ts";
import { answering, FROM, type Letter, type Letters, letterView } from "./letters.ts";
import type { MailTool } from "./descriptors.ts";
import { findReference, whyNotHeld, wordsOf } from "./name_tools.ts";
import {
  type MailAct,
  type MailCall,
  type MailParts,
  offerOf,
  type Said,
  textOf,
  textsOf,
} from "./tool.ts";
import { type NamedBy, parsePath } from "./names.ts";

/** Maximum number of leases offered in all messages of a kernel. */
const MAX_OFFERS = 10_000;

const KINDS: Readonly<Record<Mail["type"], MessageKind>> = {
  package: "handoff",
  request: "question",
  resolution: "handoff",
  rejection: "status",
  counterProposal: "handoff",
};

export function postTools(
  parts: MailParts,
  letters: Letters,
): Readonly<Partial<Record<MailTool, MailAct>>> {
  const { leases, offers } = parts;

  /** Sends a message to a box and records the leases that it offers. */
  const post = async (
    call: MailCall,
    to: Box,
    letter: { readonly mail: Mail; readonly carries: NamedBy },
  ): Promise<Said> => {
    const { process, task } = call, { mail, carries } = letter;
    const edges = mail.type === "package" || mail.type === "resolution" ? mail.edges : [];
    const { entry } = await parts.inbox().put({
      // Derived from the call, so that a call repeated after a crash sends the same message.
      id: `mail-${call.idempotencyKey.slice(0, 40)}`,
      sender: `agent:${parts.agent}`,
      senderTask: task,
      kind: KINDS[mail.type],
      body: canonicalJson(JSON.parse(JSON.stringify(mail))),
      schema: MAIL_SCHEMA,
      artifactRefs: edges.flatMap(({ reference }) =>
        reference.kind === "artifact" ? [reference.artifact] : []
      ),
      requestedActions: [],
      requestedAuthority: [],
    }, {
      box: to,
      ...mixTaints(process, carries),
    });
    for (const { name, reference } of edges) {
      if (reference.kind !== "lease") continue;
      const lease = leases.covering(process.pid, reference.scope);
      if (lease !== undefined) offers.set(offerOf(entry.id, name), lease.id);
      for (const oldest of offers.keys()) {
        if (offers.size <= MAX_OFFERS) break;
        offers.delete(oldest);
      }
    }
    const value = { sent: entry.n, to, state: entry.state };
    return { content: JSON.stringify(value), value };
  };

  /** A reference that the process holds and may send. */
  const sendable = async (
    given: string,
    process: ProcessRow,
  ): Promise<NamedBy & { readonly reference: Reference }> => {
    const path = parsePath(given);
    const { named, ...by } = await findReference(parts, path, process);
    const why = whyNotHeld(parts, named, process);
    if (why !== undefined) throw new Fault("refused", `Cannot send "${given}": ${why}`);
    return { reference: named, ...by };
  };

  const boxOf = async (call: MailCall): Promise<Box> => {
    const given = call.args["recipient"];
    const { named } = await findReference(parts, parsePath(given), call.process);
    if (named.kind === "agent") return named.box;
    throw new Fault(
      "invalidArguments",
      `Cannot send to ${JSON.stringify(given)}: it is ${wordsOf(named)} and no agent`,
    );
  };

  const asideRecord = async ({ entry }: Letter): Promise<MailRecord> => {
    if (entry.state === "queued") await parts.inbox().dismiss(entry.id, "put aside by its agent");
    return { dismissed: [entry.id] };
  };

  const request = (args: JsonObject): { readonly letter: Letter; readonly name: PetName } => {
    const letter = letters.numbered(args["messageNumber"]);
    if (letter.mail?.type === "request") return { letter, name: letter.mail.responseName };
    throw new Fault(
      "invalidArguments",
      `Cannot answer message ${letter.entry.n}: it is no request; use send`,
    );
  };

  return {
    list_messages: {
      effect: "read",
      async run(): Promise<Said> {
        const found = await letters.look();
        const by = mixTaints(...found.map(({ entry }) => entry));
        const value = found.map(letterView);
        const sources = found.slice(-20).map(({ entry: { message, colour, label } }) => ({
          source: `mail of ${message.sender}`,
          ...{ colour, label },
        }));
        return { content: JSON.stringify(value, null, 1), value, ...by, sources };
      },
    },
    send: {
      effect: "stage",
      async run(call): Promise<Said> {
        const { args, process } = call;
        const strings = textsOf(args, "strings");
        const edgeNames = textsOf(args, "edgeNames"), petNames = textsOf(args, "petNames");
        const fits = strings.length === edgeNames.length || strings.length === edgeNames.length + 1;
        if (edgeNames.length !== petNames.length || !fits) {
          throw new Fault(
            "invalidArguments",
            `Cannot send ${strings.length} texts, ${edgeNames.length} edge names and ` +
              `${petNames.length} petnames: one petname for each edge name, and texts around them`,
          );
        }
        const taints: NamedBy[] = [];
        const edges: Edge[] = [];
        for (const [n, name] of edgeNames.entries()) {
          const { reference, ...by } = await sendable(petNames[n] ?? "", process);
          taints.push(by);
          edges.push({ name: edgeName(name), reference });
        }
        if (new Set(edgeNames).size !== edgeNames.length || edgeNames.includes(FROM)) {
          throw new Fault(
            "invalidArguments",
            `Cannot send: edge names differ, and none is "${FROM}"`,
          );
        }
        return await post(call, await boxOf(call), {
          mail: { type: "package", strings, edges },
          carries: mixTaints(...taints),
        });
      },
    },
    request: {
      effect: "stage",
      async run(call): Promise<Said> {
        const description = textOf(call.args, "description");
        const responseName = edgeName(textOf(call.args, "responseName"));
        const mail: Mail = { type: "request", description, responseName };
        return await post(call, await boxOf(call), { mail, carries: call.process });
      },
    },
    resolve: {
      effect: "stage",
      async run(call): Promise<Said> {
        const { args, process } = call, { letter, name } = request(args);
        const { petName, value } = args;
        if ((petName === undefined) === (value === undefined)) {
          throw new Fault("invalidArguments", "Cannot resolve: give petName or value, one of them");
        }
        const { colour, label } = process;
        const { reference, ...carries } = petName === undefined
          ? { reference: namedValue(decodeXJson(value ?? null), process), colour, label }
          : await sendable(parsePath(petName).join("/"), process);
        const mail: Mail = {
          type: "resolution",
          request: letter.entry.message.id,
          edges: [{ name, reference }],
        };
        const said = await post(call, answering(letter.entry), {
          mail,
          carries,
        });
        return { ...said, record: await asideRecord(letter) };
      },
    },
    reject: {
      effect: "stage",
      async run(call): Promise<Said> {
        const { letter } = request(call.args);
        const why = textOf(call.args, "reason");
        const mail: Mail = { type: "rejection", request: letter.entry.message.id, why };
        const to = answering(letter.entry);
        const said = await post(call, to, { mail, carries: call.process });
        return { ...said, record: await asideRecord(letter) };
      },
    },
    dismiss: {
      effect: "stage",
      async run({ args }): Promise<Said> {
        const letter = letters.numbered(args["messageNumber"]);
        return { content: "done", record: await asideRecord(letter) };
      },
    },
  };
}

/** A reference to a value. @throws Fault `tooLarge` */
export function namedValue(value: XJson, { colour, label }: NamedBy): Reference {
  const json = canonicalJson(encodeXJson(value));
  if (json.length <= 65_536) return { kind: "value", json, colour, label };
  throw new Fault("tooLarge", "Cannot name the value: its JSON is over 65,536 characters");
}

function edgeName(given: string): PetName {
  const name = PetNameSchema.safeParse(given);
  if (name.success) return name.data;
  throw new Fault("invalidArguments", `Cannot use the edge name ${JSON.stringify(given)}`);
}
