/**
 * What a page shows of a collection, as plain data: a table, its filters, and forms from JSON Schemas. The page's own code
 * draws it (CollectionPanel of @svc/kit/collection), so an extension in a process of its own has a page without code of its own there.
 */

/** Words as readers see them; where a language is missing they see English. */
export type ViewWords = string | { readonly en: string; readonly zh?: string };

/** Its English. */
export const inEnglish = (words: ViewWords): string => (typeof words === 'string' ? words : words.en);

/** A JSON Schema of an object, as TypeBox makes it. */
export type ViewSchema = Readonly<Record<string, unknown>>;

export interface ViewColumn {
  /** A field of an item; `agent.name` looks inside. */
  readonly field: string;
  /** Default: the field's words. */
  readonly title?: ViewWords;
  /** Default `text`. `badge`: a word of a closed set, such as a status. `diff`: a unified diff, line by line. */
  readonly format?: 'text' | 'ago' | 'date' | 'bytes' | 'number' | 'percent' | 'usd' | 'badge' | 'yes' | 'code' | 'diff' | 'duration' | 'reference';
  /** For `reference`: of what; its name is shown. */
  readonly of?: string;
  /** For `duration`: what one is. */
  readonly unit?: string;
  /** Left out where the table has not much room. */
  readonly isMinor?: boolean;
  /** A field that is shown below it, in small letters; of several the first that has a value. */
  readonly below?: string | readonly string[];
  /** Shown where there is no value: `no limit`, `never`. */
  readonly none?: ViewWords;
  /** For `badge`: how each value looks; others are grey. */
  readonly tones?: Readonly<Record<string, Tone>>;
}

export interface ViewFilter {
  /** The parameter of the list, and the field of an item. */
  readonly field: string;
  readonly values: readonly string[];
}

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet';

/** A button for one more thing to do: with an item, in its row and its details; with the list, in the head. */
export interface ActionButton {
  readonly name: string;
  readonly on: 'item' | 'list';
  readonly method: string;
  /** `/api/tasks/{id}/retry`; the names are fields of the item. */
  readonly path: string;
  readonly label: ViewWords;
  /** An icon of the kit. */
  readonly icon?: string;
  /** What is asked first. */
  readonly confirm?: { readonly title: ViewWords; readonly text?: ViewWords; readonly action?: ViewWords };
  readonly isDangerous?: boolean;
  /** Only where the item has one of these values; a path such as `error.code` looks inside. */
  readonly when?: Readonly<Record<string, ReadonlyArray<string | number | boolean | null>>>;
  readonly permission?: string;
  /** Schema of what is asked in a form first. */
  readonly body?: ViewSchema;
  /** Said afterwards; `{field}` is one of the answer or of the item. */
  readonly done?: ViewWords;
  /** The work goes on after the answer. `path` (of this resource's own extension; its names are fields of the answer) says how far it is, until `field` has one of the values of `until`. */
  readonly work?: WorkView;
}

export interface WorkView {
  readonly path: string;
  readonly field: string;
  readonly until: readonly string[];
  /** Among `until`: those that are failures. */
  readonly failed?: readonly string[];
  /** A field with percent. */
  readonly percent?: string;
  /** A field with a text for people, of a failure too. */
  readonly message?: string;
}

/** What a declaration may say of its page beyond what follows from its fields. */
export interface ViewSlots {
  /** Filters beyond those of a closed set that the list has; default: those. */
  readonly filters?: readonly ViewFilter[];
  /** Fields shown when a row is opened. Default: all. False: a row opens nothing. */
  readonly detail?: readonly string[] | false;
  /** Where a row leads instead, on this page: `{ panel: 'runs', field: 'id' }`. */
  readonly opens?: { readonly panel: string; readonly field: string };
  /** The event after which the list is read again. */
  readonly event?: string;
  readonly limit?: number;
  /** The parameter that takes `next` of the page before. Default `after`. */
  readonly cursor?: string;
}

/** Where a field that refers to something finds what there is. */
export interface ReferenceSource {
  readonly path: string;
  readonly rows?: string;
  readonly key: string;
  readonly value: string;
}

/** How a field is called where a person reads it. Default: the `title` and `description` of its schema. */
export interface FieldWords {
  readonly label?: ViewWords;
  readonly hint?: ViewWords;
  /** What the values of a closed set are called. */
  readonly values?: Readonly<Record<string, ViewWords>>;
}

export interface CollectionView {
  /** The path of the list: `/api/goals`. Names in it are those of parents: `/api/agents/{agent_id}/notes`. */
  readonly path: string;
  /** The path of an item; default: the path and its key. */
  readonly itemPath?: string;
  /** What the items stand below. */
  readonly under?: { readonly field: string; readonly of: string };
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
  /** The parameter that takes `next` of the page before. Default `after`. */
  readonly cursor?: string;
  /** Items of a page; default 50. */
  readonly limit?: number;
  /** The event after which the list is read again. */
  readonly event?: string;
  readonly actions?: readonly ActionButton[];
  /** Why the list is empty, and what to do. */
  readonly empty?: ViewWords;
  /** Fields that a row shows when it is opened; none: a row opens nothing. */
  readonly detail?: readonly string[];
  readonly opens?: { readonly panel: string; readonly field: string };
  /** By the name that `x-of` of a field gives. Filled in by the daemon. */
  readonly references?: Readonly<Record<string, ReferenceSource>>;
  /** Which permission each button needs; without one everybody has it, and the daemon decides. */
  readonly permissions?: { readonly create?: string; readonly update?: string; readonly remove?: string };
}
