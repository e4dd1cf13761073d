/**
 * What a page shows of a collection, as plain data: a table, its filters, and forms from JSON Schemas. The page's own code
 * draws it (CollectionPanel of @svc/kit/collection), so an extension in a process of its own has a page without code of its own there.
 */

/** Words as readers see them; where a language is missing they see English. */
export type ViewWords = string | { readonly en: string; readonly zh?: string };

/** A JSON Schema of an object, as TypeBox makes it. */
export type ViewSchema = Readonly<Record<string, unknown>>;

export interface ViewColumn {
  /** A field of an item; `agent.name` looks inside. */
  readonly field: string;
  /** Default: the field's words. */
  readonly title?: ViewWords;
  /** Default `text`. `badge`: a word of a closed set, such as a status. */
  readonly format?: 'text' | 'ago' | 'date' | 'bytes' | 'number' | 'percent' | 'usd' | 'badge' | 'yes' | 'code';
  /** Left out where the table has not much room. */
  readonly isMinor?: boolean;
  /** For `badge`: how each value looks; others are grey. */
  readonly tones?: Readonly<Record<string, 'good' | 'bad' | 'warn' | 'info' | 'quiet'>>;
}

export interface ViewFilter {
  /** The parameter of the list, and the field of an item. */
  readonly field: string;
  readonly values: readonly string[];
}

/** How a field is called where a person reads it. Default: the `title` and `description` of its schema. */
export interface FieldWords {
  readonly label?: ViewWords;
  readonly hint?: ViewWords;
  /** What the values of a closed set are called. */
  readonly values?: Readonly<Record<string, ViewWords>>;
}

export interface CollectionView {
  /** The path of the list: `/api/goals`. An item is at `/api/goals/{id}`. */
  readonly path: string;
  /** The field of the answer that holds the list: `items`. Left out where the answer is the list, or has one list alone. */
  readonly rows?: string;
  readonly idField: string;
  /** What an item is called by in a question; default: the first column. */
  readonly nameField?: string;
  /** `Goals`. */
  readonly title: ViewWords;
  /** One of them, within a sentence: `goal`. */
  readonly one: ViewWords;
  /** What they are, below the title. */
  readonly note?: ViewWords;
  readonly columns: readonly ViewColumn[];
  /** By field; fields of a part by both names: `address.street`. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
  /** Schema of the body of a new item. */
  readonly create?: ViewSchema;
  /** `whole`: what the body leaves out is lost, so all fields are sent; else those that were changed. */
  readonly update?: { readonly method: 'PUT' | 'PATCH'; readonly schema: ViewSchema; readonly whole?: boolean };
  readonly remove?: boolean;
  /** The field with the number that changes when the item does; sent with a change as `If-Match`, so that nobody's work is overwritten. */
  readonly revisionField?: string;
  /** The list takes `q`. */
  readonly search?: boolean;
  readonly filters?: readonly ViewFilter[];
  /** Columns that the list takes as `sort`, with `order`. */
  readonly sort?: readonly string[];
  /** Items of a page; default 50. */
  readonly limit?: number;
  /** The event after which the list is read again. */
  readonly event?: string;
  /** Which permission each button needs; without one everybody has it, and the daemon decides. */
  readonly permissions?: { readonly create?: string; readonly update?: string; readonly remove?: string };
}
