/** XHTML as HTML: what is closed at once there would stay open here. @module */

const EMPTY = /<([a-z][\w:-]{0,40})((?:\s[^<>]{0,4000})?)\/>/gi;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** Writes `<x/>` as `<x></x>`, but for elements that have no end. */
export function asHtml(xhtml: string): string {
  return xhtml.replace(
    EMPTY,
    (tag, name: string, rest: string) => VOID.test(name) ? tag : `<${name}${rest}></${name}>`,
  );
}
