/** Converts mail to text: headers and body. Attachments are listed, not opened. @module */
import PostalMime, { type Address, type Email } from "postal-mime";
import { Fault } from "../../../contracts/base/fault.ts";
import type { DocumentReader } from "../document.ts";

const MAX_ADDRESSES = 50;
const MAX_ATTACHMENTS = 200;
const MAX_LINE = 500;

/** Parses a mail. */
export const readMail: DocumentReader = async ({ bytes, name }, { html }) => {
  const mail = await PostalMime.parse(bytes, {
    maxNestingDepth: 32,
    maxRfc822NestingDepth: 4,
    maxHeadersSize: 1_048_576,
    attachmentEncoding: "arraybuffer",
  });
  if (mail.headers.length === 0) {
    throw new Fault("invalidInput", `Cannot read ${JSON.stringify(name)}: it is no mail`);
  }
  const notes: string[] = [];
  const body = bodyOf(mail, html, notes);
  const subject = oneLine(mail.subject ?? "");
  const attached = mail.attachments.slice(0, MAX_ATTACHMENTS);
  const names = attached.map(({ filename, mimeType }) =>
    `- ${oneLine(filename ?? "without a name")} (${oneLine(mimeType)})`
  );
  if (mail.attachments.length > 0) {
    notes.push(`${mail.attachments.length} attachments are named and were not read.`);
  }
  const parts = [
    `# ${subject === "" ? "Mail without a subject" : subject}`,
    headersOf(mail).join("\n"),
    body,
    ...(names.length > 0 ? [`## Attachments\n\n${names.join("\n")}`] : []),
  ];
  return { text: parts.filter((part) => part !== "").join("\n\n"), title: subject, notes };
};

/** Prefers the plain text; converts HTML only if there is none. */
function bodyOf(
  mail: Email,
  html: Parameters<DocumentReader>[1]["html"],
  notes: string[],
): string {
  const plain = mail.text?.trim() ?? "";
  if (plain !== "") {
    if (mail.html !== undefined) notes.push("Its HTML form was left out: the plain one is read.");
    return plain;
  }
  if (mail.html === undefined) return "";
  const page = html(mail.html, { whole: true });
  notes.push(...page.notes);
  return page.text;
}

function headersOf(mail: Email): readonly string[] {
  const date = mail.date ?? mail.headers.find(({ key }) => key === "date")?.value;
  const lines: readonly (readonly [string, string])[] = [
    ["From", mail.from === undefined ? "" : addresses([mail.from])],
    ["To", addresses(mail.to ?? [])],
    ["Cc", addresses(mail.cc ?? [])],
    ["Date", date ?? ""],
  ];
  return lines.filter(([, value]) => value !== "").map(([name, value]) =>
    `${name}: ${oneLine(value)}`
  );
}

function addresses(list: readonly Address[]): string {
  const shown = list.slice(0, MAX_ADDRESSES).map((each) =>
    each.address === undefined
      ? `${each.name}: ${each.group.length} addresses`
      : each.name === ""
      ? each.address
      : `${each.name} <${each.address}>`
  );
  const more = list.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function oneLine(text: string): string {
  return text.slice(0, 4 * MAX_LINE).replace(/\s+/g, " ").trim().slice(0, MAX_LINE);
}
