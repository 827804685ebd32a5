/** Commands of browser profiles; never show cookie values. Used by cli/key/family.ts. @module */
import { EXIT, Fault, toJson } from "../../contracts/base/mod.ts";
import {
  type BrowserProfile,
  profileClaim,
  ProfileCookie,
  ProfileGrant,
  ProfileName,
  whyNotApproved,
} from "../../contracts/policy/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { displayText } from "../../text/mod.ts";
import * as z from "zod";
import { loadConfig } from "../../config/files.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import {
  askKernel,
  type Command,
  commandText,
  givenFile,
  printJson,
  printLines,
  withKernel,
} from "../command.ts";
import type { Basic } from "../powers.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";
import { MAX_COOKIES_TXT_BYTES, readCookiesTxt } from "./cookies_txt.ts";

const DAY_MS = 86_400_000;

/** The state of a profile in a kernel's answer. */
const Standing = z.object({
  grant: ProfileGrant,
  cookies: z.array(ProfileCookie.omit({ value: true })),
});
type Standing = z.infer<typeof Standing>;

/** A profile's entry in remit.yaml, and its approved state. */
interface ProfileRow {
  readonly name: ProfileName;
  readonly entry: BrowserProfile | undefined;
  readonly kept: Standing | undefined;
  readonly state: string;
}

async function rowsOf(command: Command): Promise<readonly ProfileRow[]> {
  const { disk, environment } = command.powers, now = environment.now();
  const { browser } = loadConfig(disk, command.places, { folder: environment.cwd, mounts: [] });
  const entries = browser.profiles ?? {};
  const kept = Standing.array().parse(await askKernel(command, "profiles", { do: "list" }));
  const names = new Set([...Object.keys(entries), ...kept.map(({ grant }) => grant.name)]);
  return [...names].sort().map((text) => {
    const name = ProfileName.parse(text), entry = entries[name];
    const found = kept.find(({ grant }) => grant.name === name);
    const why = whyNotApproved(entry, found?.grant, now);
    return { name, entry, kept: found, state: why ?? "approved" };
  });
}

function nameOf(command: Command): ProfileName {
  const text = command.parsed.args[0] ?? "", name = ProfileName.safeParse(text);
  if (name.success) return name.data;
  throw new Fault(
    "invalidInput",
    `Cannot read "${
      displayText(text, { max: 80 })
    }" as a profile's name: a-z, then up to 63 of a-z, 0-9, _ and -`,
  );
}

async function findProfile(command: Command): Promise<ProfileRow> {
  const name = nameOf(command), found = (await rowsOf(command)).find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new Fault(
    "notFound",
    `Cannot find browser profile "${name}": write it into remit.yaml, beneath browser.profiles`,
  );
}

const iso = (at: number): string => new Date(at).toISOString().replace(/:\d\d\.\d+Z$/, "Z");

/** `browser list`. */
export async function browserList(command: Command): Promise<number> {
  const all = await rowsOf(command), now = command.powers.environment.now();
  if (command.json) return printJson(command, toJson(all));
  const rows = all.map(({ name, entry, kept, state }) => {
    const left = kept === undefined ? 0 : kept.grant.expiresAt - now;
    const { agent, origins } = entry ?? kept?.grant ?? { agent: "", origins: [] };
    return [
      ...[name, agent, origins.join(" "), `${kept?.cookies.length ?? 0}`, state],
      left > 0 ? spanText(left) : "",
    ];
  });
  const heads = ["PROFILE", "AGENT", "ORIGINS", "COOKIES", "STATE", "TIME LEFT"];
  const { screen } = command.powers;
  printLines(
    command,
    tableLines(
      heads,
      rows,
      screen.outWidth ?? 200,
      "no agent is signed in anywhere: docs/browser_profiles.md says how",
    ),
  );
  if (all.some(({ entry, state }) => entry !== undefined && state !== "approved")) {
    screen.say(screen.paint.dim(`approve with: ${commandText(command, "browser approve NAME")}`));
  }
  return EXIT.success;
}

/** `browser show NAME`. */
export async function browserShow(command: Command): Promise<number> {
  const found = await findProfile(command), { name, entry, kept, state } = found;
  if (command.json) return printJson(command, toJson(found));
  const { agent, origins } = entry ?? kept?.grant ?? { agent: "", origins: [] };
  const cookies = (kept?.cookies ?? []).map((each) => [
    displayText(each.name, { max: 60 }),
    `${each.origin}${each.shared ? " and beneath" : ""}`,
    displayText(each.path, { max: 60 }),
    [each.secure ? "Secure" : "", each.httpOnly ? "HttpOnly" : "", `SameSite=${each.sameSite}`]
      .filter((word) => word !== "").join(" "),
    each.expiresAt === undefined ? "with the profile" : iso(each.expiresAt),
  ]);
  return printLines(command, [
    `profile   ${name}  ${state}`,
    `agent     ${agent}`,
    ...origins.map((origin) => `origin    ${origin}`),
    ...(kept === undefined ? [] : [
      `approved  ${iso(kept.grant.approvedAt)}`,
      `until     ${iso(kept.grant.expiresAt)}`,
    ]),
    ...(cookies.length === 0 ? ["cookies   none"] : [
      "",
      ...tableLines(
        ["COOKIE", "OF", "PATH", "SAYS", "UNTIL"],
        cookies,
        command.powers.screen.outWidth ?? 200,
      ),
    ]),
  ]);
}

/** `browser approve NAME`: only at a terminal; signs exactly the values shown. */
export async function browserApprove(
  command: Command<Basic | "keyboard">,
): Promise<number> {
  const { powers, places } = command, { screen, keyboard } = powers;
  const { name, entry, kept, state } = await findProfile(command);
  if (entry === undefined) {
    throw new Fault(
      "notFound",
      `Cannot approve "${name}": remit.yaml says nothing of it here any more`,
    );
  }
  if (keyboard === undefined) {
    throw new Fault("refused", `Cannot approve "${name}": a person says yes to it, at a terminal`);
  }
  const approvedAt = powers.environment.now();
  const grant = ProfileGrant.parse({
    ...{ name, agent: entry.agent, origins: [...entry.origins], days: entry.days },
    ...{ approvedAt, expiresAt: approvedAt + entry.days * DAY_MS },
  });
  for (
    const line of [
      `profile   ${name}  ${state}`,
      `agent     ${grant.agent}, in tasks of yours; none that it starts, and no other agent`,
      ...grant.origins.map((origin) => `origin    ${origin}`),
      `until     ${iso(grant.expiresAt)} (${grant.days} days), then it is emptied`,
      ...(kept === undefined || kept.grant.agent === grant.agent
        ? []
        : [`cookies   the ${kept.cookies.length} of agent ${kept.grant.agent} are deleted`]),
      "",
      "The agent acts there as you: it reads what you may read, and each page that it opens carries",
      "your cookies. What sends something asks you each time. Its pages are internal, and these",
      "origins may be sent internal text of the same task, so that it can go from page to page.",
    ]
  ) screen.say(line);
  const answer = await keyboard.line(`  sign ${grant.agent} in as ${name}? y/N › `);
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? "")) {
    throw new Fault("cancelled", `Cannot approve "${name}": you did not say yes`);
  }
  return await withKernel(command, async (link) => {
    const signer = openKeyRing(powers.disk, places).provideConsent();
    const signature = signer.sign(canonicalJson(profileClaim(grant, link.receiptKey)));
    const approved = await link.ask("profiles", toJson({ do: "approve", grant, signature }));
    const { cookies } = Standing.parse(approved);
    if (command.json) return printJson(command, approved);
    printLines(command, [
      `approved ${name} until ${iso(grant.expiresAt)}: ${cookies.length} cookies`,
    ]);
    if (cookies.length === 0) {
      const how = commandText(command, `browser import ${name} FILE`);
      screen.say(screen.paint.dim(`sign it in with cookies of your own browser: ${how}`));
    }
    return EXIT.success;
  });
}

/** `browser import NAME FILE`. */
export async function browserImport(command: Command): Promise<number> {
  const { environment, screen } = command.powers, now = environment.now();
  const { name, kept } = await findProfile(command);
  if (kept === undefined) {
    throw new Fault(
      "refused",
      `Cannot import into "${name}": nobody approved it; say ${
        commandText(command, `browser approve ${name}`)
      } first`,
    );
  }
  const bytes = givenFile(command, command.parsed.args[1] ?? "", "read", {
    most: MAX_COOKIES_TXT_BYTES,
  });
  const text = new TextDecoder().decode(bytes);
  const { cookies, others, unfit } = readCookiesTxt(text, kept.grant.origins, now);
  if (cookies.length > 0) {
    await askKernel(command, "profiles", toJson({ do: "import", name, cookies }));
  }
  if (command.json) {
    return printJson(command, { name, imported: cookies.length, leftOut: others, unfit });
  }
  printLines(command, [
    `imported ${cookies.length} cookies into ${name}`,
    ...(others.cookies === 0
      ? []
      : [`left out ${others.cookies} of ${others.hosts} other hosts: they are not its origins`]),
    ...(unfit === 0 ? [] : [`left out ${unfit} that expired, or that no jar holds`]),
  ]);
  screen.say(screen.paint.dim("the file still holds them: delete it"));
  return EXIT.success;
}

/** `browser forget NAME`. */
export async function browserForget(command: Command): Promise<number> {
  const name = nameOf(command);
  const answer = await askKernel(command, "profiles", { do: "forget", name });
  const { cookies } = z.object({ cookies: z.int() }).parse(answer);
  return command.json
    ? printJson(command, { name, cookies })
    : printLines(command, [`forgot ${name}: its approval and ${cookies} cookies`]);
}
