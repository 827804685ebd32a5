/** `a2a add URL`: fetches a remote agent's card, checks its signature, shows it, and pins it. @module */
import { Millis } from "../../contracts/authority/mod.ts";
import { EXIT, type ExitCode, Fault, isLoopback } from "../../contracts/base/mod.ts";
import {
  type McpLook,
  type McpServerName,
  NO_GRANTS,
  type ServerListing,
} from "../../contracts/exchange/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { putServer } from "../mcp/command/add.ts";
import {
  approvedLines,
  pin,
  saysYes,
  showFailure,
  showReview,
  waitingLines,
} from "../mcp/onboard.ts";
import { type LockedServer, parseMcpName } from "../../bridges/mcp/registry/lock.ts";
import { keepLook, lookAt } from "../../bridges/mcp/registry/look.ts";
import { reviewDocument } from "../../bridges/mcp/registry/review.ts";
import { clearanceFor } from "../mcp/grant_flags.ts";
import { forgetMcpSecrets, keepMcpSecret } from "../../bridges/mcp/registry/secrets.ts";
import { lockOf, registryOf, reviewNow } from "../mcp/work.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { loadSecrets } from "../../config/secret/keep.ts";
import { factsOf, keysWords, launchBy } from "./peer_work.ts";
import { displayText } from "../../text/mod.ts";
import type { Basic } from "../powers.ts";

/** A header sent to the peer. */
interface Credential {
  readonly header: string;
  readonly value: string;
}

/** `a2a add URL`. */
export async function a2aAdd(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins" | "readInput">,
): Promise<number> {
  const { powers, places, parsed } = command;
  const url = peerAddress(parsed.args[0] ?? "");
  const clearance = clearanceFor(command);
  const name = nameFor(command, url);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const credential = await credentialOf(command, url);
  if (credential !== undefined) {
    keepMcpSecret(registryOf(command), name, { header: credential.header }, credential.value);
  }
  const draft: LockedServer = {
    name,
    // The endpoint and the signers stand in the card, which is fetched next.
    launch: {
      ...{ kind: "http", url: url.href },
      a2a: { endpoint: url.href, binding: "JSONRPC", keys: [] },
    },
    grants: { read: [...NO_GRANTS.read], write: [...NO_GRANTS.write], net: [...NO_GRANTS.net] },
    ...{ env: {}, secretEnv: [], offers: { resources: false, prompts: false } },
    secretHeaders: credential === undefined ? [] : [credential.header],
    ...{ samplingTokens: 0, elicitation: false, state: "added" },
    clearance: clearance ?? "public",
    ...(clearance === undefined ? {} : { clearanceChosen: clearance }),
    addedAt: Millis.parse(powers.environment.now()),
    from: { kind: "url", text: url.href },
    ...{ packages: [], reviewed: [], notes: [] },
  };
  putServer(command, draft);
  const look = await firstLook(command, draft);
  if (look.words !== undefined) {
    return await pinPeer(command, draft, { ...look, words: look.words });
  }
  forget(command, draft);
  if (command.json) printJson(command, { name: draft.name, ended: look.ended ?? null });
  else showFailure(command, draft, look, { kept: false });
  return EXIT.upstreamFailure;
}

/** Fetches the card. A peer that sends none is forgotten: there is nothing to review later. */
async function firstLook(
  command: Command<Basic | "mcpStore">,
  draft: LockedServer,
): Promise<McpLook> {
  const { screen } = command.powers;
  screen.hint(`  … ${draft.name} is asked for its card`);
  try {
    return await lookAt(registryOf(command), draft, false);
  } catch (error) {
    forget(command, draft);
    throw error;
  } finally {
    screen.hint("");
  }
}

function forget(command: Command<Basic | "mcpStore">, { name }: LockedServer): void {
  lockOf(command).remove(name);
  forgetMcpSecrets(registryOf(command), name);
}

async function pinPeer(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
  draft: LockedServer,
  look: McpLook & { readonly words: ServerListing },
): Promise<ExitCode> {
  const { powers } = command;
  const { words } = look;
  const lock = lockOf(command);
  const facts = factsOf(words);
  const server = lock.change(draft.name, (each) => ({
    ...each,
    launch: launchBy(facts),
    notes: facts.keys.length === 0 ? [keysWords(facts)] : [],
  }));
  keepLook(registryOf(command), server, { at: powers.environment.now(), look });
  const review = await reviewNow(command, server, words);
  if (!command.json) showReview(command, review, { look, whole: false });
  const done = await saysYes(command, review)
    ? pin(command, review, { flagged: false })
    : undefined;
  if (command.json) {
    printJson(command, {
      ...reviewDocument({ ...review, server: done?.server ?? server }, look),
      ...{ approved: done?.approved ?? [], left: done?.left ?? [] },
    });
  } else {
    printLines(
      command,
      done === undefined ? waitingLines(command, review) : approvedLines(command, done),
    );
  }
  return done !== undefined && done.approved.length > 0 ? EXIT.success : EXIT.waiting;
}

function nameFor(command: Command<Basic | "mcpStore">, url: URL): McpServerName {
  const given = flag(command.parsed, "name");
  const name = parseMcpName(given ?? nameOfHost(url));
  const before = lockOf(command).find(name);
  if (before === undefined || before.state === "added") return name;
  throw new Fault(
    "alreadyExists",
    `Cannot add peer "${name}": there is one of that name; remove it with "remit a2a remove ${name}", or give another with --name`,
  );
}

/** A bearer token from a file, or a kept secret for this origin. Throws Fault `invalidInput`, `notFound`, `refused`. */
async function credentialOf(
  command: Command<Basic | "readInput">,
  url: URL,
): Promise<Credential | undefined> {
  const { powers, places, parsed } = command;
  const [secret, file] = [flag(parsed, "secret"), flag(parsed, "token-file")];
  if (secret !== undefined && file !== undefined) {
    throw new Fault("invalidInput", "Cannot add a peer: give --secret or --token-file, not both");
  }
  if (secret !== undefined) {
    const kept = loadSecrets(powers.disk, places).find((each) => each.name === secret);
    if (kept === undefined) {
      throw new Fault("notFound", `Cannot find secret "${secret}": see "remit secret list"`);
    }
    if (kept.origin !== url.origin) {
      throw new Fault(
        "refused",
        `Cannot show secret "${secret}" to ${url.origin}: it was kept for ${kept.origin}`,
      );
    }
    return { header: kept.header, value: `${kept.prefix}${kept.value}` };
  }
  if (file === undefined) return undefined;
  const bytes = file === "-" ? undefined : powers.disk.read(absolute(powers.environment, file));
  const text = file === "-"
    ? await powers.readInput()
    : bytes === undefined
    ? undefined
    : new TextDecoder().decode(bytes);
  const token = text?.trim() ?? "";
  if (/^[\x21-\x7e]{1,8000}$/.test(token)) {
    return { header: "authorization", value: `Bearer ${token}` };
  }
  throw new Fault(
    text === undefined ? "notFound" : "invalidInput",
    `Cannot read a token from "${file}": ${
      text === undefined ? "there is no such file" : "it must hold one token, and nothing else"
    }`,
  );
}

/** Parses a host, or the address of a card or endpoint. Throws Fault `invalidInput`. */
export function peerAddress(text: string): URL {
  const shown = displayText(text, { max: 200 });
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const host = text.replace(/[:/].*$/s, "").toLowerCase();
  const whole = scheme ? text : `${isLoopback(host) ? "http" : "https"}://${text}`;
  const url = URL.canParse(whole) && whole.length <= 2_048 ? new URL(whole) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Fault(
      "invalidInput",
      `Cannot add a peer at "${shown}": give its host, its card or its endpoint, as https://agents.example.org`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new Fault(
      "invalidInput",
      "Cannot add a peer: its address holds a password; give it with --token-file FILE",
    );
  }
  url.hash = "";
  return url;
}

/** A name made from a host: its first distinctive part. */
export function nameOfHost({ hostname }: URL): string {
  const parts = hostname.split(".").map((part) => part.toLowerCase().replace(/[^a-z0-9]/g, ""));
  const named = parts.find((part) => /^[a-z]/.test(part) && !GENERIC.has(part));
  return (named ?? "peer").slice(0, 24);
}

const GENERIC: ReadonlySet<string> = new Set(["www", "api", "a2a", "agent", "agents", "localhost"]);
