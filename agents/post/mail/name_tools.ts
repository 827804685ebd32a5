/** The tools over an agent's own names. @module */
import { mixTaints } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { ToolName } from "../../../contracts/authority/ids.ts";
import { toJson } from "../../../contracts/base/json.ts";
import { Scope } from "../../../contracts/authority/lease.ts";
import { SPECIAL_NAMES } from "../../../contracts/exchange/mail.ts";
import type { Json, JsonObject } from "../../../contracts/base/mod.ts";
import type { PetPath, Reference } from "../../../contracts/exchange/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import { digestOf } from "../../../port/digest.ts";
import { MAIL_DESCRIPTORS, type MailTool } from "./descriptors.ts";
import {
  missing,
  type Named,
  namedAt,
  type NamedBy,
  parsePath,
  withMoved,
  withNamed,
  withoutNamed,
} from "./names.ts";
import type { MailAct, MailCall, MailParts, Said } from "./tool.ts";

/** The thing at a path, with the colour and label of those who named it. */
interface Found extends NamedBy {
  readonly named: Named;
}

const KNOWN: NamedBy = { colour: "BLUE", label: "public" };

/** The thing at a process's path, including special names. @throws Fault `notFound`, `invalidArguments` */
async function find(parts: MailParts, path: PetPath, process: ProcessRow): Promise<Found> {
  const [first = ""] = path;
  if (SPECIAL_NAMES.has(first)) return { ...KNOWN, named: special(parts, path, process) };
  const { directory, ...by } = await parts.names.look();
  const named = namedAt(directory, path);
  if (named === undefined) throw missing(path);
  return { named, ...mixTaints(by, named.kind === "value" ? named : KNOWN) };
}

/** Like {@link find}; throws for a directory. */
export async function findReference(
  parts: MailParts,
  path: PetPath,
  process: ProcessRow,
): Promise<NamedBy & { readonly named: Reference }> {
  const { named, ...by } = await find(parts, path, process);
  if (named.kind !== "directory") return { named, ...by };
  throw new Fault(
    "invalidArguments",
    `Cannot use "${path.join("/")}": it is a directory; name something in it`,
  );
}

/** Why a process does not hold the described capability; undefined if it does, or for other references. */
export function whyNotHeld(
  parts: Pick<MailParts, "leases">,
  named: Reference,
  process: ProcessRow,
): string | undefined {
  if (named.kind === "tool") {
    const { tool } = named;
    return process.snapshot?.tools.some(({ name, permission }) =>
        name === tool && permission !== "forbidden"
      )
      ? undefined
      : `you do not hold the tool "${tool}"`;
  }
  if (named.kind !== "lease") return undefined;
  const { resource, right, path } = named.scope;
  return parts.leases.covering(process.pid, named.scope) === undefined
    ? `you hold no lease for ${right} on ${resource} ${JSON.stringify(path)}`
    : undefined;
}

/** A reference in words. */
export function wordsOf(named: Named): string {
  switch (named.kind) {
    case "directory":
      return `a directory of ${Object.keys(named.entries).length} names`;
    case "value":
      return "a value";
    case "artifact":
      return `the artifact ${named.artifact} of an outbox`;
    case "agent":
      return named.box === "host" ? "HOST, the person" : `the inbox ${named.box}`;
    case "tool":
      return `the tool ${named.tool}`;
    case "lease": {
      const { resource, right, path } = named.scope;
      return `the right to ${right} ${resource}${path === "" ? "" : ` ${JSON.stringify(path)}`}`;
    }
  }
}

/** The special names `SELF`, `HOST`, and `AGENT` with the process's holdings. */
function special(parts: MailParts, path: PetPath, process: ProcessRow): Named {
  const [first, kind, ...rest] = path;
  if (path.length === 1 && first === "SELF") return { kind: "agent", box: `agent:${parts.agent}` };
  if (path.length === 1 && first === "HOST") return { kind: "agent", box: "host" };
  if (first !== "AGENT") throw missing(path);
  if (kind === undefined) {
    const tools = (process.snapshot?.tools ?? []).filter(({ permission }) =>
      permission !== "forbidden"
    );
    return { kind: "directory", entries: { tool: heldTools(tools.map(({ name }) => name)) } };
  }
  const named = heldAt(kind, rest);
  if (named === undefined) throw missing(path);
  const why = whyNotHeld(parts, named, process);
  if (why !== undefined) throw new Fault("refused", `Cannot name "${path.join("/")}": ${why}`);
  return named;
}

function heldTools(names: readonly ToolName[]): Named {
  const entries = names.map((tool): readonly [string, Reference] => [tool, { kind: "tool", tool }]);
  return { kind: "directory", entries: Object.fromEntries(entries) };
}

function heldAt(kind: string, rest: readonly string[]): Reference | undefined {
  if (kind === "tool" && rest.length === 1) {
    const tool = ToolName.safeParse(rest[0]);
    return tool.success ? { kind: "tool", tool: tool.data } : undefined;
  }
  const [resource, right, ...path] = rest;
  const scope = Scope.safeParse({ resource, right, path: path.join("/") });
  return kind === "lease" && scope.success ? { kind: "lease", scope: scope.data } : undefined;
}

const byOf = ({ process: { colour, label } }: MailCall): NamedBy => ({ colour, label });

export function nameTools(parts: MailParts): Readonly<Partial<Record<MailTool, MailAct>>> {
  const { names } = parts;
  const looking = (
    look: (found: Found, path: PetPath, call: MailCall) => Json,
  ): MailAct => ({
    effect: "read",
    async run(call): Promise<Said> {
      const path = parsePath(call.args["petName"]);
      const found = await find(parts, path, call.process);
      const value = look(found, path, call);
      const content = typeof value === "string" ? value : JSON.stringify(value);
      return { content, value, colour: found.colour, label: found.label };
    },
  });
  const done: Said = { content: "done" };

  return {
    help: {
      effect: "read",
      run: ({ args }) => Promise.resolve({ content: helpOn(args["methodName"]) }),
    },
    has: {
      effect: "read",
      async run({ args, process }): Promise<Said> {
        const value = await find(parts, parsePath(args["petName"]), process).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Fault && error.code === "notFound") return false;
            throw error;
          },
        );
        return { content: String(value), value };
      },
    },
    list: {
      effect: "read",
      async run({ args, process }): Promise<Said> {
        const given = args["petName"];
        const { directory, ...by } = given === undefined
          ? await names.look()
          : await find(parts, parsePath(given), process).then(({ named, ...more }) => ({
            directory: named,
            ...more,
          }));
        if (directory.kind !== "directory") {
          throw new Fault("invalidArguments", `Cannot list ${JSON.stringify(given)}: no directory`);
        }
        const own = Object.entries(directory.entries).map(([name, named]) => ({
          name,
          is: wordsOf(named),
        }));
        const always = [...SPECIAL_NAMES].map((name) => ({ name, is: "there for every agent" }));
        const value = toJson(given === undefined ? [...always, ...own] : own);
        return { content: JSON.stringify(value), value, colour: by.colour, label: by.label };
      },
    },
    lookup: looking(({ named }) =>
      named.kind === "value" ? JSON.parse(named.json) : wordsOf(named)
    ),
    identify: looking(({ named }) =>
      named.kind === "agent" ? named.box : `${named.kind}:${digestOf(toJson(named)).slice(0, 32)}`
    ),
    inspect_capability: looking(({ named }, _path, { process }) => {
      const words = wordsOf(named);
      if (named.kind !== "tool" && named.kind !== "lease") return `${words}: it permits nothing`;
      const why = whyNotHeld(parts, named, process);
      const tool = process.snapshot?.tools.find(({ name }) =>
        named.kind === "tool" && name === named.tool
      );
      const says = tool === undefined ? "" : `\n${tool.description}`;
      return `${words}: ${why ?? "you hold it, and each call is decided by the gate"}${says}`;
    }),
    remove: {
      effect: "stage",
      async run(call): Promise<Said> {
        const path = parsePath(call.args["petName"]);
        await names.change(byOf(call), (now) => withoutNamed(now, path));
        return done;
      },
    },
    move: {
      effect: "stage",
      async run(call): Promise<Said> {
        const from = parsePath(call.args["fromPath"]), to = parsePath(call.args["toPath"]);
        await names.change(byOf(call), (now) => withMoved(now, from, to));
        return done;
      },
    },
    copy: {
      effect: "stage",
      async run(call): Promise<Said> {
        const to = parsePath(call.args["toPath"]);
        const { named } = await find(parts, parsePath(call.args["fromPath"]), call.process);
        await names.change(byOf(call), (now) => withNamed(now, to, named));
        return done;
      },
    },
    make_directory: {
      effect: "stage",
      async run(call): Promise<Said> {
        const path = parsePath(call.args["petName"]);
        await names.change(byOf(call), (now) => {
          const there = namedAt(now, path);
          if (there?.kind === "directory") return now;
          if (there !== undefined) {
            throw new Fault("alreadyExists", `Cannot make "${path.join("/")}": the name is taken`);
          }
          return withNamed(now, path, { kind: "directory", entries: {} });
        });
        return done;
      },
    },
  };
}

const ALL = [
  "You have names, mail and proposals.",
  "Names: your own directory of petnames, for values and capabilities; nobody else's names are yours. " +
  "SELF is you, HOST the person, AGENT what you hold. See has, list, lookup, remove, move, copy, " +
  "make_directory, identify, inspect_capability.",
  "Mail: list_messages, then send an answer, then dismiss. What a message carries gets a petname by " +
  "adopt. request asks for something, resolve and reject answer.",
  "Proposals: evaluate proposes a program to HOST. It runs only if HOST grants it.",
  'Extended JSON: "+5" and "-5" are bigints, "#undefined", "#NaN", "#Infinity" and "#-Infinity" what ' +
  'they say; "!" stands before a text that begins so.',
  'help with methodName says more of one tool, as {"methodName":"send"}.',
].join("\n");

/** The help on one tool, or on all. */
function helpOn(tool: JsonObject[string] | undefined): string {
  const found = Object.values(MAIL_DESCRIPTORS).find(({ name }) => name === tool);
  return found === undefined ? ALL : `${found.name}: ${found.description}\n${found.paramSchema}`;
}
