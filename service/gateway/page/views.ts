/**
 * The page's HTML, built from lines that the starter made safe to show. Works without scripts; the
 * deny button comes first, so that Enter alone denies. Used by routes.ts and
 * service/gateway/main.ts.
 * @module
 */
import type { PageView } from "../../../contracts/wire/wire_a2a.ts";

/** Finished HTML. Made by {@link html} alone. */
export interface Markup {
  readonly markup: string;
}

/** What a template accepts: text, which is escaped; HTML; lists; `undefined` for nothing. */
export type Piece = string | number | Markup | undefined | readonly Piece[];

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Escapes text for an element or a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (sign) => SIGNS[sign] ?? sign);
}

function html(words: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  const markup = words.reduce((made, word, n) => made + textOf(pieces[n - 1]) + word);
  return Object.freeze({ markup });
}

function textOf(piece: Piece): string {
  if (piece === undefined) return "";
  if (typeof piece === "string") return escapeHtml(piece);
  if (typeof piece === "number") return String(piece);
  return "markup" in piece ? piece.markup : piece.map(textOf).join("");
}

/** The style sheet in the page; the content security policy contains its digest. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1c1b19;--dim:#6b675f;--paper:#fbfaf7;--line:#dcd8ce;--accent:#8a5a00;--yes:#1d6b3a;--no:#9b2c2c}
@media(prefers-color-scheme:dark){:root{--ink:#e8e5dd;--dim:#9d988d;--paper:#181715;--line:#3a3731;--accent:#e0a93b;--yes:#3f9a63;--no:#d06a5f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:0 .75rem 3rem;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
header{display:flex;align-items:baseline;gap:1rem;padding:.8rem 0;border-bottom:1px solid var(--line)}
header a{color:var(--ink);font-weight:700;text-decoration:none}
header form{margin-left:auto}
h1{font-size:1.25rem;margin:1.2rem 0 .4rem}
h2{font-size:1rem;margin:1.4rem 0 .4rem;color:var(--dim)}
table{width:100%;border-collapse:collapse}
td{padding:.4rem .6rem .4rem 0;border-top:1px solid var(--line);vertical-align:top;font-size:.9rem;white-space:pre-wrap}
td:last-child{width:50%}
a{color:var(--accent)}
pre{margin:.4rem 0;padding:.5rem .2rem;overflow-x:auto;font:max(10px,min(14px,2.55vw))/1.35 ui-monospace,monospace;white-space:pre;unicode-bidi:plaintext;direction:ltr}
pre span{display:block;min-height:1.35em;unicode-bidi:isolate}
p.say{padding:.6rem .8rem;border-left:4px solid var(--accent);background:color-mix(in srgb,var(--accent) 10%,transparent)}
form.answer{position:sticky;bottom:0;padding:.8rem 0;background:var(--paper);border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.6rem}
input{flex:1 1 14rem;min-width:0;padding:.55rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:.3rem}
button{padding:.55rem 1.1rem;font:inherit;font-weight:600;color:#fff;background:var(--accent);border:0;border-radius:.3rem;cursor:pointer}
button.yes{background:var(--yes)}
button.no{background:var(--no)}
button.quiet{padding:0;color:var(--dim);background:none;font-weight:400;text-decoration:underline}
code{font-family:ui-monospace,monospace}
@media(max-width:40rem){form.answer input{flex-basis:100%}form.answer button{flex:1}td{display:inline-block;border:0;padding:.15rem .5rem .15rem 0;width:auto}td:last-child{display:block;width:auto}tr{display:block;border-top:1px solid var(--line);padding:.3rem 0}}
`;

/** The parts of a page around its body. */
export interface Frame {
  readonly title: string;
  /** Seconds after which the browser reloads the page. */
  readonly refresh?: number;
  /** Proves that a form belongs to this session. Absent: nobody is logged in. */
  readonly token?: string;
}

// Constant text, whose digest is in the policy.
const style: Markup = Object.freeze({ markup: `<style>${STYLE}</style>` });

/** A whole document. */
export function documentOf({ title, refresh, token }: Frame, body: Markup): string {
  const { markup } = html`
    <!doctype html>
    <html lang="en" dir="ltr">
      <head><meta charset="utf-8"><title>${title} · Remit</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    ${refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="${refresh}">`}
    ${style}</head>
      <body>
        <header><a href="/">remit</a>${token === undefined
          ? undefined
          : html`<form method="post" action="/logout">
<input type="hidden" name="token" value="${token}"><button class="quiet">log out</button></form>`}</header>
        <main>${body}</main>
      </body>
    </html>
  `;
  return markup;
}

/** The login form. `code` came with the address; submitting uses it up, a preview does not. */
export function loginBody(
  { code, say }: { readonly code?: string; readonly say?: string },
): Markup {
  return html`<h1>${code === undefined ? "Who are you?" : "Log in"}</h1>
${say === undefined ? undefined : html`<p class="say">${say}</p>`}
<p>${
    code === undefined
      ? html`Type <code>remit serve login</code> at your terminal, and open the address that it prints.`
      : "This address came from your terminal, and is good once. Whoever uses it may answer for you."
  }</p>
<form method="post" action="/login" class="answer" autocomplete="off">
${
    code === undefined
      ? html`<input name="code" aria-label="code" placeholder="or paste the code" maxlength="128" required>`
      : html`<input type="hidden" name="code" value="${code}">`
  }<button class="yes">Log in</button></form>`;
}

/** A sentence instead of the requested view. */
export function sayBody(say: string): Markup {
  return html`
    <h1>Not shown</h1>
    <p class="say">${say}</p>
  `;
}

/** A view from the starter. */
export function viewBody(
  view: PageView,
  { token, say }: { readonly token: string; readonly say?: string },
): Markup {
  return html`<h1>${view.title}</h1>
${say === undefined ? undefined : html`<p class="say">${say}</p>`}
${view.sections.map(sectionBody)}
${view.elsewhere === undefined ? undefined : html`<p class="say">${view.elsewhere}</p>`}
${view.answer === undefined ? undefined : answerBody(view.answer, token)}`;
}

function sectionBody({ heading, rows, lines }: PageView["sections"][number]): Markup {
  return html`<section><h2>${heading}</h2>${
    rows.length === 0
      ? undefined
      : html`<table>${
        rows.map(({ cells, to }) =>
          html`<tr>${
            cells.map((cell, n) =>
              html`<td>${
                n === 0 && to !== undefined ? html`<a href="${hrefOf(to)}">${cell}</a>` : cell
              }</td>`
            )
          }</tr>`
        )
      }</table>`
  }${
    // No newline between the lines: each is a block element.
    lines.length === 0
      ? undefined
      : html`<pre>${lines.map((line) => html`<span>${line}</span>`)}</pre>`}</section>`;
}

function answerBody(
  { question, shown }: NonNullable<PageView["answer"]>,
  token: string,
): Markup {
  return html`<form method="post" action="${hrefOf(question)}" class="answer" autocomplete="off">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="shown" value="${shown}">
<input name="say" aria-label="a word to the agent" placeholder="a word to the agent, if you like" maxlength="2000">
<button class="no" name="decision" value="deny">Deny</button>
<button class="yes" name="decision" value="allow">Allow once</button></form>`;
}

/** The address of a task, question or message, by the first letter of its id. */
function hrefOf(id: string): string {
  const of = id.startsWith("q") ? "question" : id.startsWith("m") ? "message" : "task";
  return `/${of}/${id}`;
}
