/**
 * Functions that Chromium runs in a page, in a world that the page's scripts cannot reach. All of
 * their source is here: nothing that a model says is ever run. Members are taken from the
 * prototypes, because a form's fields hide its own members behind their names.
 * @module
 */

const OF =
  `const of = (proto, name, it) => Object.getOwnPropertyDescriptor(proto, name).get.call(it);
const has = (it, name) => Element.prototype.hasAttribute.call(it, name);`;

/** On a form, with its buttons: what each way of sending it sends; first the Enter key's. */
export const SENDING = `function (...buttons) { ${OF}
  const F = HTMLFormElement.prototype;
  const fix = (text) => text.replace(/\\r\\n?|\\n/g, "\\r\\n");
  const one = (button) => {
    const B = button instanceof HTMLInputElement ? HTMLInputElement.prototype : HTMLButtonElement.prototype;
    const pick = (own, attribute, name) =>
      button && has(button, attribute) && of(B, own, button) !== "" ? of(B, own, button) : of(F, name, this);
    const method = pick("formMethod", "formmethod", "method").toUpperCase();
    const encoding = pick("formEnctype", "formenctype", "enctype");
    const action = pick("formAction", "formaction", "action");
    let data;
    try { data = button ? new FormData(this, button) : new FormData(this); } catch { return null; }
    const parts = new URLSearchParams();
    for (const [name, value] of data) {
      parts.append(fix(name), fix(typeof value === "string" ? value : value.name));
    }
    let url = action;
    try {
      const to = new URL(action);
      to.hash = "";
      if (method === "GET") to.search = "?" + parts;
      url = to.href;
    } catch {}
    return { method, encoding, action, url, body: method === "GET" ? "" : String(parts) };
  };
  const enter = buttons.find((each) => !of(each instanceof HTMLInputElement ? HTMLInputElement.prototype : HTMLButtonElement.prototype, "disabled", each));
  return [one(enter), ...buttons.map(one)];
}`;

/** On an element: clicks exactly it, without a target window, so that links open here. */
export const CLICK = `function () {
  for (const name of ["target", "formtarget"]) Element.prototype.removeAttribute.call(this, name);
  if (this instanceof HTMLElement) HTMLElement.prototype.click.call(this);
  else this.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true }));
}`;

/** On a form: sends it as the Enter key does; returns the validation errors. */
export const SUBMIT = `function (button) { ${OF}
  for (const it of [this, button]) {
    if (!it) continue;
    for (const name of ["target", "formtarget"]) Element.prototype.removeAttribute.call(it, name);
  }
  const F = HTMLFormElement.prototype;
  const skip = of(F, "noValidate", this) || (button && has(button, "formnovalidate"));
  if (!skip && !F.checkValidity.call(this)) {
    const wrong = [...of(F, "elements", this)].filter((each) => each.willValidate && !each.validity.valid);
    return wrong.slice(0, 10).map((each) => String(each.name) + ": " + String(each.validationMessage));
  }
  if (button) HTMLElement.prototype.click.call(button);
  else F.requestSubmit.call(this);
  return [];
}`;

/** On a text field: types a text and returns the field's value. */
export const TYPE = `function (text) {
  const proto = this instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  HTMLElement.prototype.focus.call(this);
  Object.getOwnPropertyDescriptor(proto, "value").set.call(this, text);
  this.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return Object.getOwnPropertyDescriptor(proto, "value").get.call(this);
}`;

/** On a check box or a radio button: sets its state and returns it. */
export const TURN = `function (on) {
  const checked = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "checked");
  if (checked.get.call(this) !== on) HTMLElement.prototype.click.call(this);
  return checked.get.call(this);
}`;

/** On a \`select\`: chooses these values; returns the options when a value is not among them. */
export const CHOOSE = `function (...wanted) { ${OF}
  const options = [...of(HTMLSelectElement.prototype, "options", this)];
  const usable = options.filter((each) => !each.disabled);
  const chosen = wanted.map((text) => usable.find((each) => each.value === text) ?? usable.find((each) => each.label === text));
  if (chosen.includes(undefined) || (!this.multiple && chosen.length !== 1)) return usable.slice(0, 30).map((each) => each.value.slice(0, 60));
  for (const each of options) each.selected = chosen.includes(each);
  for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, { bubbles: true }));
  return null;
}`;
