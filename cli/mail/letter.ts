/** Reads and writes mail in the form of the command line. @module */
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import {
  type AgentMessage,
  type Edge,
  InboxEntry,
  type Mail,
  MAIL_SCHEMA,
  mailIn,
  PetName,
  type Reference,
} from "../../contracts/exchange/mod.ts";
import { canonicalJson, parseJson } from "../../port/mod.ts";
import { decodeXJson, encodeXJson } from "../../port/xjson.ts";

/** Parses an inbox entry from the kernel. */
export function entryOf(answer: Json): InboxEntry {
  return InboxEntry.parse(answer);
}

/** A message from the person. `id` is unique in the recipient's inbox. */
export function messageOf(id: string, kind: AgentMessage["kind"], mail: Mail): Json {
  return {
    ...{ id, sender: "host", kind, schema: MAIL_SCHEMA, body: canonicalJson(toJson(mail)) },
    ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
  };
}

/** Parses an attachment, `NAME=JSON` or `NAME=agent:NAME`. @throws Fault `invalidInput` */
export function attached(given: string): Edge {
  const at = given.indexOf("=");
  const name = PetName.safeParse(given.slice(0, Math.max(0, at)));
  if (!name.success) {
    throw new Fault(
      "invalidInput",
      `Cannot attach "${given}": write NAME=JSON, or NAME=agent:NAME`,
    );
  }
  return { name: name.data, reference: referenceOf(given.slice(at + 1)) };
}

/** Parses a value, or the inbox of an agent or task. @throws Fault `invalidInput` */
export function referenceOf(text: string): Reference {
  const box = /^(?:agent:[a-z][a-z0-9-]{0,63}|task:t[0-9a-z]{12})$/.exec(text)?.[0];
  if (box !== undefined) return { kind: "agent", box };
  try {
    const json = canonicalJson(encodeXJson(decodeXJson(parseJson(text))));
    return { kind: "value", json, colour: "BLUE", label: "internal" };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault("invalidInput", `Cannot read the value "${text}": ${error.message}`, {
      cause: error,
    });
  }
}

/** Splits a text at the `@NAME` of its attachments; text after the last one follows. */
export function packageOf(text: string, edges: readonly Edge[]): Mail {
  const strings: string[] = [];
  let rest = text;
  for (const { name } of edges) {
    const at = rest.indexOf(`@${name}`);
    strings.push(at < 0 ? rest : rest.slice(0, at));
    rest = at < 0 ? "" : rest.slice(at + name.length + 1);
  }
  return { type: "package", strings: [...strings, rest], edges: [...edges] };
}

/** A message as one text; untrusted. */
export function textOf(entry: InboxEntry): string {
  const mail = mailIn(entry.message);
  switch (mail?.type) {
    case undefined:
      return entry.message.body;
    case "package":
      return mail.strings.map((each, n) => {
        const edge = mail.edges[n];
        return edge === undefined ? each : `${each}@${edge.name}`;
      }).join("");
    case "request":
      return `asks for ${mail.responseName}: ${mail.description}`;
    case "resolution":
      return `answers your request with @${mail.edges[0]?.name ?? ""}`;
    case "rejection":
      return `declines your request: ${mail.why}`;
    case "counterProposal":
      return `another program for proposal ${mail.proposal}: ${mail.why}`;
  }
}

/** The attachments of a message. */
export function edgesOf(entry: InboxEntry): readonly Edge[] {
  const mail = mailIn(entry.message);
  return mail?.type === "package" || mail?.type === "resolution" ? mail.edges : [];
}
