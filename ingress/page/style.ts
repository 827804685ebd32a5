/** The page's one style sheet. It stands in the page, and the policy names its digest. @module */

/** CSS. */
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
