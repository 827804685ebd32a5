/** What a request's headers say to the protocol: version, extensions, media types. A2A 1.0, sections 3.2.6 and 3.6. @module */
import { A2A_CONTENT_TYPE, A2A_VERSION_HEADER, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { malformed, notTaken } from "./refusal.ts";

/** The version that is spoken; its patch number never matters. */
const VERSION = /^1\.0(?:\.\d{1,4})?$/;
/** Longest list of extensions. */
const EXTENSIONS = 4_096;
/** What is spoken beside the protocol: a message that is sent again in its context is answered as the first time. */
const SPOKEN: readonly string[] = ["urn:remit:a2a:once"];

/**
 * Refuses what the protocol of `request` would not be.
 * @throws {VersionNotSupportedError} also without a version, which stands for 0.3.
 */
export function checkVersion(request: Request): void {
  const asked = request.headers.get(A2A_VERSION_HEADER) ??
    new URL(request.url).searchParams.get(A2A_VERSION_HEADER) ?? "";
  if (!VERSION.test(asked.trim())) {
    throw new VersionNotSupportedError("This version is not supported; supported: 1.0");
  }
  if ((request.headers.get(HTTP_EXTENSION_HEADER) ?? "").length > EXTENSIONS) {
    throw malformed(`${HTTP_EXTENSION_HEADER}: longer than ${EXTENSIONS}`);
  }
}

/** Names the extensions that were asked for and are spoken, and no other. */
export function withExtensions(request: Request, response: Response): Response {
  const asked = (request.headers.get(HTTP_EXTENSION_HEADER) ?? "").slice(0, EXTENSIONS).split(",");
  const active = SPOKEN.filter((each) => asked.some((one) => one.trim() === each));
  if (active.length > 0) response.headers.set(HTTP_EXTENSION_HEADER, active.join(", "));
  return response;
}

/**
 * Refuses a body of another media type than `application/json`, or with `rest` A2A's own.
 * @throws {ContentTypeNotSupportedError}
 */
export function checkContentType(request: Request, rest: boolean): void {
  const type = request.headers.get("content-type");
  const plain = type?.split(";", 1)[0]?.trim().toLowerCase();
  if (plain === "application/json" || (rest && plain === A2A_CONTENT_TYPE)) return;
  throw notTaken(
    rest
      ? `this Content-Type; expected application/json or ${A2A_CONTENT_TYPE}`
      : "this Content-Type; expected application/json",
  );
}

/** The media type to answer with: A2A's own for who accepts that and not plain JSON. */
export function answerType(request: Request): string {
  const accept = (request.headers.get("accept") ?? "").toLowerCase();
  return accept.includes(A2A_CONTENT_TYPE) && !accept.includes("application/json")
    ? A2A_CONTENT_TYPE
    : "application/json";
}
