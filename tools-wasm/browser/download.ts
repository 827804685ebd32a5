/** Saving what an address holds into the task's scratch. @module */
import { answerText, isTextType, mediaType } from "./answer_text.ts";
import { cleanText } from "../../text/page_text.ts";
import type { Host } from "./host.ts";
import { Refusal } from "./refusal.ts";

/** Most bytes of a download: as many as the scratch takes at once. */
const DOWNLOAD_BYTES = 1_000_000;

/**
 * Fetches `url` and writes it to `path`.
 *
 * @throws Refusal `tooLarge`, and `refused` for what is not text, for a redirect and for an error of the server: nothing
 * is saved then.
 */
export async function download(
  { url, path }: { readonly url: string; readonly path: string },
  host: Host,
): Promise<string> {
  if (!path.startsWith("scratch/")) {
    throw new Refusal(
      "invalidArguments",
      "Cannot save a download: its path has to begin with scratch/",
    );
  }
  const answer = await host.http.fetch({ url, headers: { accept: "*/*" }, bytes: DOWNLOAD_BYTES });
  const type = cleanText(mediaType(answer)).slice(0, 80);
  const { stopped, status } = answer;
  if (stopped !== undefined) {
    throw new Refusal(
      "refused",
      `Cannot download ${url}: it leads to ${
        JSON.stringify(cleanText(stopped.location).slice(0, 500))
      }, which was not followed ` +
        `(${cleanText(stopped.why).slice(0, 200)}); download from there with a call of its own`,
    );
  }
  if (status < 200 || status > 299) {
    throw new Refusal("refused", `Cannot download ${url}: the server says ${status}`);
  }
  if (answer.cut) {
    throw new Refusal(
      "tooLarge",
      `Cannot download ${url}: it has more than ${DOWNLOAD_BYTES} bytes; the rest was not read and nothing was saved`,
    );
  }
  // Bytes that happen to be UTF-8 are text only if nobody says otherwise.
  const read = answer.text === undefined && !isTextType(type) ? undefined : answerText(answer);
  if (read === undefined || read.doubt !== undefined || read.text.includes("\0")) {
    throw new Refusal(
      "refused",
      `Cannot download ${url}: it is not UTF-8 text (${
        type === "" ? "of no named type" : type
      }), and this version saves ` +
        "only text; ask the person to fetch it",
    );
  }
  await host.fs.write({ path, text: read.text });
  return `saved ${path}: ${read.text.length} characters (${
    type === "" ? "no type" : type
  }) from ${answer.url}; untrusted, like everything from the web`;
}
