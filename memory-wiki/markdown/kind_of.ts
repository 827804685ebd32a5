/** What kind of source a file is, by its name and its first bytes. @module */
import type { SourceKind } from "../../contracts/mod.ts";
import { encodingOf } from "./encoding.ts";

const EXTENSIONS: Readonly<Record<Exclude<SourceKind, "code">, string>> = {
  markdown: "md markdown mdown mkd mdx",
  text: "txt text rst adoc asciidoc org log srt vtt tex",
  csv: "csv tsv tab",
  json: "json jsonl ndjson json5 jsonc geojson webmanifest ipynb",
  html: "html htm xhtml",
  pdf: "pdf",
  docx: "docx",
  epub: "epub",
  mail: "eml mbox",
};
const CODE =
  "ts tsx js jsx mjs cjs mts cts py pyi rb rs go java kt kts scala c h cc cpp cxx hpp hh cs m mm swift php pl pm lua r " +
  "jl sh bash zsh fish ps1 bat sql graphql proto thrift yaml yml toml ini cfg conf env properties xml xsl svg css scss " +
  "sass less vue svelte astro tf hcl nix dart ex exs erl hrl hs elm clj cljs lisp el scm ml mli fs fsx v sv vhd asm s " +
  "wat wit zig nim d pas f90 f95 cmake gradle groovy make mk dockerfile vim capnp ebnf patch diff";
const NAMES: ReadonlyMap<string, SourceKind> = new Map<string, SourceKind>(Object.entries({
  readme: "text",
  license: "text",
  licence: "text",
  copying: "text",
  authors: "text",
  notice: "text",
  changelog: "text",
  changes: "text",
  news: "text",
  todo: "text",
  makefile: "code",
  dockerfile: "code",
  jenkinsfile: "code",
  gemfile: "code",
  rakefile: "code",
}));
const BY_EXTENSION: ReadonlyMap<string, SourceKind> = new Map([
  ...Object.entries(EXTENSIONS).flatMap(([kind, list]) =>
    list.split(" ").map((extension) => [extension, kind as SourceKind] as const)
  ),
  ...CODE.split(" ").map((extension) => [extension, "code"] as const),
]);
/** Kinds whose bytes are no plain text. */
const PACKED: ReadonlySet<SourceKind> = new Set(["pdf", "docx", "epub"]);

/**
 * The kind of a file called `name` (a path or file name) whose first bytes these are (4 KB suffice). Undefined for
 * binaries and for what nothing tells: the bytes have the last word, so that an archive named `.md` is none.
 */
export function kindOf(name: string, firstBytes: Uint8Array): SourceKind | undefined {
  const file = (name.split(/[/\\]/).at(-1) ?? "").toLowerCase();
  const dot = file.lastIndexOf(".");
  const named = dot > 0
    ? BY_EXTENSION.get(file.slice(dot + 1))
    : NAMES.get(file.replace(/^\./, ""));
  if (startsWith(firstBytes, "%PDF-")) return "pdf";
  if (startsWith(firstBytes, "PK\x03\x04")) return packedKind(named, firstBytes);
  if (named !== undefined && PACKED.has(named)) return undefined;
  if (encodingOf(firstBytes) === "binary") return undefined;
  if (named !== undefined) return named;
  return dot > 0 ? undefined : byContent(firstBytes);
}

/** Only what says so in its name: any archive has the same first bytes. */
function packedKind(named: SourceKind | undefined, bytes: Uint8Array): SourceKind | undefined {
  if (latin(bytes).includes("mimetypeapplication/epub+zip")) return "epub";
  return named === "docx" || named === "epub" ? named : undefined;
}

function byContent(bytes: Uint8Array): SourceKind | undefined {
  const head = latin(bytes).replace(/^\xef\xbb\xbf/, "").trimStart();
  if (/^(?:<!doctype html|<html[\s>])/i.test(head)) return "html";
  if (/^#!\s*\//.test(head)) return "code";
  if (/^(?:---\r?\n|#{1,3} \S)/.test(head)) return "markdown";
  return undefined;
}

function startsWith(bytes: Uint8Array, mark: string): boolean {
  return latin(bytes.subarray(0, mark.length)) === mark;
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 4_096));
}
