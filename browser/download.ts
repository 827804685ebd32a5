/** Saving what an address holds into the task's scratch: past Chromium, which downloads nothing. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json, JsonObject } from "../contracts/base/json.ts";
import { cleanText } from "../text/page_text.ts";
import { mediaType, type WebAnswer } from "./web_answer.ts";

/** Most bytes of a download: as many as the scratch takes at once. */
const DOWNLOAD_BYTES = 1_000_000;
const TEXT = /^text\/|[/+](json|xml|yaml|toml|javascript|csv)$|json|^application\/xhtml/;

/** What a download asks of the kernel. */
export interface DownloadParts {
  fetch(args: JsonObject): Promise<WebAnswer>;
  write(path: string, text: string): Promise<Json>;
}

/**
 * Fetches `url` and writes it to `path`.
 *
 * @throws Fault `tooLarge`, and `refused` for what is not text, for a redirect and for an error of
 * the server: nothing is saved then
 */
export async function download(
  { url, path }: { readonly url: string; readonly path: string },
  parts: DownloadParts,
): Promise<string> {
  if (!path.startsWith("scratch/")) {
    throw new Fault(
      "invalidArguments",
      "Cannot save a download: its path has to begin with scratch/",
    );
  }
  const headers = { accept: "*/*" };
  const answer = await parts.fetch({ url, method: "GET", headers, bytes: DOWNLOAD_BYTES });
  const type = cleanText(mediaType(answer)).slice(0, 80);
  const { stopped, status } = answer;
  if (stopped !== undefined) {
    const to = JSON.stringify(cleanText(stopped.location).slice(0, 500));
    throw new Fault(
      "refused",
      `Cannot download ${url}: it leads to ${to}, which was not followed ` +
        `(${cleanText(stopped.why).slice(0, 200)}); download from there with a call of its own`,
    );
  }
  if (status < 200 || status > 299) {
    throw new Fault("refused", `Cannot download ${url}: the server says ${status}`);
  }
  if (answer.cut) {
    throw new Fault(
      "tooLarge",
      `Cannot download ${url}: it has more than ${DOWNLOAD_BYTES} bytes; the rest was not read and nothing was saved`,
    );
  }
  const text = TEXT.test(type) || type === "" ? textOf(answer.body) : undefined;
  if (text === undefined || text.includes("\0")) {
    throw new Fault(
      "refused",
      `Cannot download ${url}: it is not UTF-8 text (${
        type === "" ? "of no named type" : type
      }), ` +
        "and this version saves only text; ask the person to fetch it",
    );
  }
  await parts.write(path, text);
  const kind = type === "" ? "no type" : type;
  return `saved ${path}: ${text.length} characters (${kind}) from ${answer.url}; untrusted, like everything from the web`;
}

function textOf(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(base64);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/^\ufeff/, "");
  } catch {
    return undefined; // Not UTF-8.
  }
}
