/** Finds the names that lines of code declare, in known languages, outside comments. @module */

// Declarations and comments of known languages.

/** A family of languages. */
interface CodeForms {
  /** Patterns for a line without indentation; the first group is the name. */
  readonly anywhere: readonly RegExp[];
  /** Patterns that count only without indentation. */
  readonly margin?: readonly RegExp[];
  /** A comment line. */
  readonly comment: RegExp;
  /** Multi-line comments and strings. */
  readonly blocks: readonly { readonly from: RegExp; readonly to: RegExp }[];
}

const SLASHES = /^\/\//;
const HASH = /^#/;
const STARS = [{ from: /^\/\*/, to: /\*\// }];
const QUOTES = ['"""', "'''"].map((mark) => ({
  from: new RegExp(`^[rRbBuUfF]{0,2}${mark}`),
  to: new RegExp(mark),
}));
const POD = [{ from: /^=[a-z]+/, to: /^=cut\b/ }];

const SCRIPT: CodeForms = {
  anywhere: [
    /^(?:(?:export|default|declare|abstract|async) +)*(?:function\*?|class|interface|type|enum|namespace|module) +([\p{L}_$][\p{L}\p{N}_$.]*) *(?:[<({=]|extends\b|implements\b|$)/u,
    // Without a modifier, only a body distinguishes a method from a call.
    /^(?:(?:public|private|protected|static|async|override|abstract|readonly|get|set) +)+\*?#?([\p{L}_$][\p{L}\p{N}_$]*)(?:<[^<>()]{0,80}>)?\([^;=]{0,160}(?:\{|\(|,)$/u,
    /^\*?#?([\p{L}_$][\p{L}\p{N}_$]*)(?:<[^<>()]{0,80}>)?\((?!.*\bfunction\b)[^;=]{0,160}\{$/u,
  ],
  margin: [/^(?:export +)?(?:const|let|var) +([\p{L}_$][\p{L}\p{N}_$]*)/u],
  comment: SLASHES,
  blocks: STARS,
};

const WORDS_OF_TYPES =
  "public|private|protected|internal|open|static|abstract|final|sealed|partial|data|inline|override|virtual|async|suspend|external|fileprivate|mutating|unsafe|implicit|case|readonly|native|synchronized|export|indirect|extern|annotation|inner|companion|operator|infix|tailrec|lazy";
/** Java, Kotlin, Scala, C#, Swift, Dart, PHP. */
const TYPED: CodeForms = {
  anywhere: [
    new RegExp(
      `^(?:(?:${WORDS_OF_TYPES}) +)*(?:class|interface|enum|record|struct|trait|object|protocol|extension|namespace|package|fun|func|def|function|mixin|@interface) +(?:[A-Za-z_][\\w.<>?]*\\.)?([\\p{L}_$][\\p{L}\\p{N}_$.]*)`,
      "u",
    ),
    new RegExp(
      `^(?:(?:${WORDS_OF_TYPES}) +)*(?:[\\p{L}_$][\\p{L}\\p{N}_$.]*(?:<[^()]{0,80}>)?[?\\[\\]]* +)([\\p{L}_$][\\p{L}\\p{N}_$]*)\\([^;=]{0,160}(?:\\{|\\)|,|\\()$`,
      "u",
    ),
  ],
  comment: /^(?:\/\/|#)/,
  blocks: STARS,
};

const NATIVE: CodeForms = {
  anywhere: [
    /^(?:typedef +)?(?:struct|union|enum(?: +class)?|class|namespace) +([A-Za-z_]\w*)(?: +final)?(?: *:[^;()]*)? *(?:\{|$)/,
  ],
  margin: [
    /^#define +([A-Za-z_]\w*)\(/,
    // A return type precedes a function's name; a call has none.
    /^(?:[A-Za-z_][\w:<>,]*[ *&]+){1,6}((?:[A-Za-z_]\w*::)*~?[A-Za-z_]\w*) *\([^;=]{0,200}(?:\{|\)|,|\()$/,
    /^((?:[A-Za-z_]\w*::)+~?[A-Za-z_]\w*) *\([^;=]{0,200}(?:\{|\)|,|\()$/,
    // The style with the return type on its own line.
    /^([a-z_][a-z0-9_]*) ?\([^;="]{0,200}\)$/,
  ],
  comment: SLASHES,
  blocks: STARS,
};

const FAMILIES: readonly (readonly [string, CodeForms])[] = [
  ["ts tsx js jsx mjs cjs mts cts", SCRIPT],
  ["java kt kts scala cs swift dart php", TYPED],
  ["c h cc cpp cxx hpp hh m mm", NATIVE],
  ["go", {
    anywhere: [/^func +(?:\([^()]{0,80}\) *)?([\p{L}_][\p{L}\p{N}_]*) *[[(]/u],
    margin: [/^type +([\p{L}_][\p{L}\p{N}_]*)/u, /^(?:const|var) +([\p{L}_][\p{L}\p{N}_]*)/u],
    comment: SLASHES,
    blocks: STARS,
  }],
  ["rs zig", {
    anywhere: [
      /^(?:pub(?:\([a-z: ]{1,20}\))? +)?(?:(?:default|const|async|unsafe|inline|export|extern(?: +"[^"]{0,12}")?) +)*(?:fn|struct|enum|union|trait|mod|type) +([\p{L}_][\p{L}\p{N}_]*)/u,
      /^(?:unsafe +)?impl\b(?: *<[^{}]{0,80}?>)? +(?:[^{}]{0,80} for +)?([\p{L}_][\p{L}\p{N}_:]*)/u,
      /^macro_rules! +([\p{L}_][\p{L}\p{N}_]*)/u,
    ],
    margin: [/^(?:pub +)?(?:const|static|var) +([\p{L}_][\p{L}\p{N}_]*)/u],
    comment: SLASHES,
    blocks: STARS,
  }],
  ["py pyi", {
    anywhere: [
      /^(?:async +)?def +([\p{L}_][\p{L}\p{N}_]*) *[[(]/u,
      /^class +([\p{L}_][\p{L}\p{N}_]*) *[[(:]/u,
    ],
    comment: HASH,
    blocks: QUOTES,
  }],
  ["rb", {
    anywhere: [/^(?:def|class|module) +(?:self\.)?([\p{L}_][\p{L}\p{N}_:]*[?!=]?)/u],
    comment: HASH,
    blocks: [{ from: /^=begin\b/, to: /^=end\b/ }],
  }],
  ["pl pm", {
    anywhere: [/^sub +([A-Za-z_]\w*) *(?:\{|\(|$)/, /^package +([A-Za-z_][\w:]*) *[;{]/],
    comment: HASH,
    blocks: POD,
  }],
  ["sh bash zsh", {
    anywhere: [/^function +([\w.:-]+) *(?:\(\))? *\{?$/, /^([A-Za-z_][\w.:-]*) *\(\) *\{?$/],
    comment: HASH,
    blocks: [],
  }],
  ["lua", {
    anywhere: [/^(?:local +)?function +([A-Za-z_][\w.:]*) *\(/],
    comment: /^--/,
    blocks: [{ from: /^--\[\[/, to: /\]\]/ }],
  }],
  ["ex exs", {
    anywhere: [
      /^(?:defmodule|defprotocol|defimpl|defp?|defmacrop?) +([\p{L}_][\p{L}\p{N}_.]*[?!]?)/u,
    ],
    comment: HASH,
    blocks: [{ from: /^@?(?:\w+ +)?"""/, to: /"""/ }],
  }],
  ["sql", {
    anywhere: [
      /^create +(?:or +replace +)?(?:temp(?:orary)? +|unique +|materialized +|virtual +)*(?:table|view|index|function|procedure|trigger|type|schema) +(?:if +not +exists +)?["`[]?([\p{L}_][\p{L}\p{N}_.]*)/iu,
    ],
    comment: /^--/,
    blocks: STARS,
  }],
  ["proto thrift graphql gql", {
    anywhere: [
      /^(?:extend +)?(?:message|service|enum|struct|exception|type|input|interface|scalar|union|directive) +@?([A-Za-z_]\w*) *(?:[{(=@]|implements\b|extends\b|$)/,
      /^rpc +([A-Za-z_]\w*) *\(/,
    ],
    comment: /^(?:\/\/|#)/,
    blocks: [...STARS, { from: /^"""/, to: /"""/ }],
  }],
];

const BY_EXTENSION: ReadonlyMap<string, CodeForms> = new Map(
  FAMILIES.flatMap(([extensions, forms]) => extensions.split(" ").map((each) => [each, forms])),
);

/** The patterns for a file name; undefined for an unknown language. */
function codeFormsOf(name: string): CodeForms | undefined {
  const extension = /\.([A-Za-z]+)$/.exec(name)?.[1];
  return extension === undefined ? undefined : BY_EXTENSION.get(extension.toLowerCase());
}

const MAX_LINE = 240;
const MAX_NAME = 80;
const NO_NAME: ReadonlySet<string> = new Set(
  "if for while switch catch return function else do with elif unless until when match new throw await foreach using lock synchronized sizeof typeof assert case print super this"
    .split(" "),
);

/** A classified line of code. */
export interface CodeLine {
  readonly name: string | undefined;
  /** Whether it is, or lies in, a comment or a multi-line string. */
  readonly comment: boolean;
}

const NAMELESS: CodeLine = { name: undefined, comment: false };

/** Makes a function that classifies the lines of a file in order. An unknown language has no names. */
export function makeCodeNames(file: string): (line: string) => CodeLine {
  const forms = codeFormsOf(file);
  if (forms === undefined) return () => NAMELESS;
  let end: RegExp | undefined;
  return (line) => {
    const text = line.trim();
    if (end !== undefined) {
      if (end.test(text)) end = undefined;
      return { name: undefined, comment: true };
    }
    for (const { from, to } of forms.blocks) {
      const begun = from.exec(text);
      if (begun === null) continue;
      if (!to.test(text.slice(begun[0].length))) end = to;
      return { name: undefined, comment: true };
    }
    const name = nameIn(forms, text.slice(0, MAX_LINE), line.startsWith(text));
    return { name, comment: name === undefined && forms.comment.test(text) };
  };
}

function nameIn(
  { anywhere, margin = [] }: CodeForms,
  text: string,
  atMargin: boolean,
): string | undefined {
  for (const form of atMargin ? [...anywhere, ...margin] : anywhere) {
    const name = form.exec(text)?.[1];
    if (name === undefined || NO_NAME.has(name) || name.length > MAX_NAME) continue;
    // `return f(` and `new T(` look like a type and a name.
    if (NO_NAME.has(/^[\p{L}_$]+/u.exec(text)?.[0] ?? "") && !/^(?:case|function)\b/.test(text)) {
      continue;
    }
    return name;
  }
  return undefined;
}
