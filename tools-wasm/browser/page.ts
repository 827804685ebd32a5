/** A page as the session keeps it: without its tree, only its lines and its targets. @module */
import type { Control } from "./control.ts";
import type { Form } from "./form.ts";

/** What a ref names. */
export type Target =
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "form"; readonly form: Form }
  | { readonly kind: "button"; readonly form: Form; readonly control: Control }
  | { readonly kind: "field"; readonly form: Form; readonly control: Control };

/** A visited page. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly title: string;
  /** Lines about the page, not from it. */
  readonly notes: readonly string[];
  /** The outline in parts that are shown one at a time; at least one. */
  readonly parts: readonly string[];
  readonly targets: ReadonlyMap<string, Target>;
}
