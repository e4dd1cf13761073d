/** What a declaration of a collection says, and the names that follow from its words. */
import type { FieldWords, ViewWords } from '../declare/collection-view.js';
import type { SvcError } from '../errors.js';
import type { TObject } from '../schema/schema.js';
import type { ListSpec } from './list.js';

/** What an operation of a collection may say of itself. */
export interface OperationSpec {
  /** Default: the verb and the word, as `listGoals`, `createGoal`. */
  readonly id?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Default `<area>.read` or `<area>.write`. */
  readonly permission?: string;
  readonly cost?: number;
  /** Errors that its rules throw, by status. */
  readonly errors?: readonly number[];
}

export type Verb = 'list' | 'create' | 'get' | 'update' | 'remove';

/** A declaration, whatever its fields are. */
export interface AnyCollectionSpec {
  /** The area: permissions and the audit begin with it. */
  readonly area: string;
  /** The singular in lower case: `goal`. Separate words with spaces: `cron job`. */
  readonly one: string;
  /** Many of them, also the table's name: `goals`. Default: `one` with an s. */
  readonly many?: string;
  /** `/api/goals`. */
  readonly path: string;
  /** What a person sets. A field that may be left out has a default, or may be null. */
  readonly fields: TObject;
  /** Fields that no two items of one owner share, together. */
  readonly unique?: ReadonlyArray<readonly string[]>;
  readonly indexes?: ReadonlyArray<readonly string[]>;
  /** The field that holds the id of an agent, with which the item goes. */
  readonly agent?: string;
  readonly list?: {
    /** Default: `many`. */
    readonly as?: readonly string[];
    /** Default: `created_at`, `updated_at`. */
    readonly sort?: readonly string[];
    readonly order?: 'asc' | 'desc';
    /** Fields that the list can be narrowed by. */
    readonly filters?: readonly string[];
    /** Fields of text that `q` looks into. */
    readonly search?: readonly string[];
    readonly limit?: ListSpec['limit'];
  };
  /** Default PUT. Either takes any of the fields and leaves the others as they are. */
  readonly updateBy?: 'PUT' | 'PATCH';
  /** Status of a success; default 201. */
  readonly createdStatus?: 200 | 201;
  /** Extra documentation of an operation; false omits the operation. */
  readonly operations?: Readonly<Partial<Record<Verb, OperationSpec | false>>>;
  /** Fields that tables show, on the command line and on the page; default: the first four. */
  readonly columns?: readonly string[];
  /** The word of its commands, `svc goals list`: the extension's id, or a word that the extension declares. Default: the area. */
  readonly word?: string;
  /** Fields that the command line takes without a flag when one is made; default: the first one that is required. */
  readonly args?: readonly string[];
  /** What the page calls it. Default: `one` and `many`, and the names of the fields. */
  readonly words?: { readonly title?: ViewWords; readonly one?: ViewWords; readonly note?: ViewWords; readonly fields?: Readonly<Record<string, FieldWords>> };
  /** Thrown for an item that is not there, or that the caller may not see. */
  readonly missing: (id: string) => SvcError;
}

type FieldOf<F extends TObject> = keyof F['properties'] & string;

/** The same, with the names of its fields checked. */
export interface CollectionSpec<F extends TObject> extends AnyCollectionSpec {
  readonly fields: F;
  readonly unique?: ReadonlyArray<readonly FieldOf<F>[]>;
  readonly agent?: FieldOf<F>;
  readonly list?: AnyCollectionSpec['list'] & { readonly filters?: readonly FieldOf<F>[]; readonly search?: readonly FieldOf<F>[] };
  readonly args?: readonly FieldOf<F>[];
}

export const camelCase = (text: string): string =>
  text
    .split(/[ _-]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

export const snakeCase = (text: string): string => text.replaceAll(/[ -]/g, '_');

export const manyOf = ({ one, many = `${one}s` }: Pick<AnyCollectionSpec, 'one' | 'many'>): string => many;

export const operationOf = (spec: AnyCollectionSpec, verb: Verb): OperationSpec | undefined => {
  const given = spec.operations?.[verb];
  return given === false ? undefined : (given ?? {});
};

/** With the id of a third party's extension in it, `listAcmeTodoTasks`: an area that svc gets later has other names. */
export const operationId = (spec: AnyCollectionSpec, verb: Verb): string => {
  const word = verb === 'remove' ? 'delete' : verb;
  const owner = spec.area.includes('-') ? camelCase(spec.area) : '';
  return operationOf(spec, verb)?.id ?? `${word}${owner}${camelCase(verb === 'list' ? manyOf(spec) : spec.one)}`;
};

const SHOWN_FIELDS = 4;

/** What a table has room for. */
export const shownFields = (spec: Pick<AnyCollectionSpec, 'columns' | 'fields'>): readonly string[] => spec.columns ?? Object.keys(spec.fields.properties).slice(0, SHOWN_FIELDS);
