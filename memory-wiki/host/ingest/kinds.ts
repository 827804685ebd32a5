/** Determines the kind of a source from a file name or a server's answer. @module */
import { extname } from "node:path";
import { SourceKind } from "../../../contracts/memory/mod.ts";

const words = (text: string): readonly string[] => text.split(" ");

const BY_EXTENSION: Readonly<Record<SourceKind, readonly string[]>> = {
  markdown: words("md markdown mdx mkd"),
  text: words("txt text rst adoc asciidoc org tex log man 1 2 3 4 5 6 7 8 vtt srt"),
  csv: words("csv tsv"),
  json: words("json jsonl ndjson json5 jsonc geojson"),
  html: words("html htm xhtml"),
  pdf: words("pdf"),
  docx: words("docx"),
  epub: words("epub"),
  mail: words("eml"),
  code: words(
    "ts tsx js jsx mjs cjs mts cts py pyi rb rs go java kt kts scala swift c h cc cpp cxx hpp hh m " +
      "mm cs fs php pl pm lua r jl sh bash zsh fish ps1 bat cmd sql graphql gql proto thrift capnp " +
      "hs ml mli ex exs erl clj cljs el lisp scm vim awk zig nim d dart v sv vhd asm s wat css " +
      "scss sass less vue svelte astro xml xsd xsl yaml yml toml ini cfg conf properties " +
      "cmake mk gradle tf hcl nix bzl bazel dockerfile",
  ),
};

const BY_NAME: Readonly<Record<string, SourceKind>> = {
  readme: "text",
  license: "text",
  licence: "text",
  copying: "text",
  authors: "text",
  contributors: "text",
  notice: "text",
  changelog: "text",
  changes: "text",
  news: "text",
  todo: "text",
  install: "text",
  makefile: "code",
  gnumakefile: "code",
  dockerfile: "code",
  containerfile: "code",
  jenkinsfile: "code",
  rakefile: "code",
  gemfile: "code",
  justfile: "code",
};

const EXTENSIONS: ReadonlyMap<string, SourceKind> = new Map(
  SourceKind.options.flatMap((kind) => BY_EXTENSION[kind].map((each) => [each, kind])),
);

/** The kind by file name; undefined for no document. */
export function kindOfName(name: string): SourceKind | undefined {
  const lower = name.toLowerCase();
  const extension = extname(lower).slice(1);
  return extension === "" ? BY_NAME[lower] : EXTENSIONS.get(extension);
}

const BY_MEDIA: Readonly<Record<string, SourceKind>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/csv": "csv",
  "text/tab-separated-values": "csv",
  "application/json": "json",
  "application/pdf": "pdf",
  "application/epub+zip": "epub",
  "message/rfc822": "mail",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/javascript": "code",
  "text/javascript": "code",
  "text/css": "code",
  "application/xml": "code",
  "text/xml": "code",
  "application/yaml": "code",
};

/** The kind by media type, else by the last segment of the URL; undefined for no document. */
export function kindOfAnswer(mediaType: string, url: string): SourceKind | undefined {
  const named = kindOfName(new URL(url).pathname.split("/").at(-1) ?? "");
  const told = Object.hasOwn(BY_MEDIA, mediaType) ? BY_MEDIA[mediaType] : undefined;
  if (told !== undefined) return told;
  // Servers send Markdown and code as plain text.
  if (mediaType === "text/plain" || mediaType === "application/octet-stream" || mediaType === "") {
    return named ?? (mediaType === "text/plain" ? "text" : undefined);
  }
  if (mediaType.endsWith("+json")) return "json";
  return mediaType.startsWith("text/") ? "text" : undefined;
}

/** Whether bytes look like text: no NUL in the first 8 KiB. */
export function looksLikeText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8_192).includes(0);
}
