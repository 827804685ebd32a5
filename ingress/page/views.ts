/**
 * The page's HTML, of lines that the starter made safe to show. Works without script; the deny button comes first, so that
 * Enter alone is no.
 * @module
 */
import type { PageView } from "../../contracts/wire_a2a.ts";
import { html, type Markup } from "./markup.ts";
import { STYLE } from "./style.ts";

/** How a page is made. */
export interface Frame {
  readonly title: string;
  /** Seconds after which it is asked for again. */
  readonly refresh?: number;
  /** Proves that a form is of this session. Absent: nobody is logged in. */
  readonly token?: string;
}

// Nothing of ours stands in it but constant text, and its digest is in the policy.
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

/** Where a person logs in; `code` came with the address. It is used up by the form, and not by whoever looks ahead. */
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

/** A sentence in place of what was asked for. */
export function sayBody(say: string): Markup {
  return html`
    <h1>Not shown</h1>
    <p class="say">${say}</p>
  `;
}

/** What the starter lets be seen. */
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
    // No newline between them: each line is a block of its own.
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

/** The address of a task, a question or a message, by the letter that its id begins with. */
function hrefOf(id: string): string {
  const of = id.startsWith("q") ? "question" : id.startsWith("m") ? "message" : "task";
  return `/${of}/${id}`;
}
