/** What a declaration of a resource says, and the names that follow from its words. */
import type { FieldWords, ViewColumn, ViewSlots, ViewWords } from '../declare/collection-view.js';
import type { SvcError } from '../errors.js';
import type { Method } from '../http/http.js';
import type { TObject, TSchema } from '../schema/schema.js';
import type { ActionSpec, ActionSpecs } from './actions.js';
import type { ListSpec } from './list.js';

/** What an operation of a resource may say of itself. */
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
  /** Of `update` (default PUT, or PATCH where there is `replace`) and `replace` (default PUT). */
  readonly method?: Method;
  /** Where it has an address of its own. */
  readonly path?: string;
  /** Parameters beside those that it has. Of a list with an `answer` of its own: all of them. */
  readonly query?: TObject;
  /** The body of a success, where that is not the item, or the usual list. */
  readonly answer?: TSchema;
  /** Of a success. Default 200, of `create` 201. */
  readonly status?: number;
  /** Default: the word and the verb, as `goal_created`. */
  readonly audit?: string | false;
  /** The function does not need the item: it is not read first, and access is the function's matter. */
  readonly isBlind?: boolean;
}

export type Verb = 'list' | 'create' | 'get' | 'update' | 'replace' | 'delete';

/** What happens to items when what they stand below goes. */
export type WhenGone = 'delete' | 'detach' | 'keep';

export interface UnderSpec {
  /** The parameter of the path, and the field of an item that holds its id. */
  readonly field: string;
  /** What it is, as a reference names it: `agents`. */
  readonly of: string;
  /** Default `delete`. Of an agent svc does it; of other parents call `parentGone`. */
  readonly whenGone?: WhenGone;
}

/** A declaration, whatever its fields are. */
export interface AnyResourceSpec {
  /** The area: permissions and the audit begin with it. */
  readonly area: string;
  /** The singular in lower case: `goal`. Separate words with spaces: `cron job`. */
  readonly one: string;
  /** Many of them, also the table's name: `goals`. Default: `one` with an s. */
  readonly many?: string;
  /** `/api/goals`, or below a parent `/api/agents/{agent_id}/notes`. */
  readonly path: string;
  /** Of an item: its last part is the key. Default: the path and `/{id}`. */
  readonly itemPath?: string;
  /** What an item is called by in addresses. Default: `id`, a UUID. */
  readonly key?: { readonly name: string; readonly schema: TSchema };
  /** What items stand below. Who may not see it sees none of them. */
  readonly under?: UnderSpec;
  /** What a person sets. A field that may be left out has a default, or may be null. */
  readonly fields: TObject;
  /** An item as it is answered, where it has its own shape: instead of fields and what is computed. Not of a table. */
  readonly item?: TSchema;
  /** What is shown and never sent, such as `next_run`. */
  readonly computed?: TObject;
  /** Secrets among the fields, each with the name under which an item shows whether it is set: `{ token: 'has_token' }`. */
  readonly writeOnly?: Readonly<Record<string, string>>;
  /** Further names under which a body may give a field: `{ prompt_template: ['prompt'] }`. */
  readonly alsoAs?: Readonly<Record<string, readonly string[]>>;
  /** Fields that no two items of one owner share, together. */
  readonly unique?: ReadonlyArray<readonly string[]>;
  readonly indexes?: ReadonlyArray<readonly string[]>;
  /** The field that holds the id of an agent, with which the item goes. */
  readonly agent?: string;
  readonly list?: {
    /** Default: `many`. */
    readonly as?: readonly string[];
    /** Default of a table: `created_at`, `updated_at`. */
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
  /** Of a table all but `replace`, unless false. Of functions those that are named. */
  readonly operations?: Readonly<Partial<Record<Verb, OperationSpec | false>>>;
  readonly actions?: ActionSpecs;
  /** Fields that tables show, on the command line and on the page; the first is the subject. Default: the first four. */
  readonly columns?: readonly (string | ViewColumn)[];
  /** The word of its commands, `svc goals list`: the extension's id, or a word that the extension declares. Default: the area. */
  readonly word?: string;
  /** Other verbs of its commands, or false for no command: `{ list: 'of' }`. */
  readonly verbs?: Readonly<Partial<Record<Verb, string | false>>>;
  /** Fields that the command line takes without a flag when one is made; default: the first one that is required. */
  readonly args?: readonly string[];
  /** What the page calls it. Default: `one` and `many`, and the names of the fields. `empty`: why there is none, and what to do. */
  readonly words?: { readonly title?: ViewWords; readonly one?: ViewWords; readonly note?: ViewWords; readonly empty?: ViewWords; readonly fields?: Readonly<Record<string, FieldWords>> };
  /** What the page shows besides. */
  readonly view?: ViewSlots;
  /** Thrown for an item that is not there, or that the caller may not see. */
  readonly missing?: (key: string) => SvcError;
}

/** A declaration as an area writes it: of what nobody creates there are no fields. */
export type ResourceSpec = Omit<AnyResourceSpec, 'fields'> & Partial<Pick<AnyResourceSpec, 'fields'>>;

type FieldOf<F extends TObject> = keyof F['properties'] & string;

/** Of a table, with the names of its fields checked. */
export interface CollectionSpec<F extends TObject, C extends TObject = TObject, A extends ActionSpecs = ActionSpecs> extends Omit<AnyResourceSpec, 'item' | 'key'> {
  readonly fields: F;
  readonly computed?: C;
  readonly actions?: A;
  readonly unique?: ReadonlyArray<readonly FieldOf<F>[]>;
  readonly agent?: FieldOf<F>;
  readonly list?: AnyResourceSpec['list'] & { readonly filters?: readonly FieldOf<F>[]; readonly search?: readonly FieldOf<F>[] };
  readonly args?: readonly FieldOf<F>[];
  readonly missing: (id: string) => SvcError;
}

export const camelCase = (text: string): string =>
  text
    .split(/[ _-]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

export const snakeCase = (text: string): string => text.replaceAll(/[ -]/g, '_');

/** `restartAll` is `restart-all`. */
export const kebabCase = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[ _]/g, '-')
    .toLowerCase();

export const manyOf = ({ one, many = `${one}s` }: Pick<AnyResourceSpec, 'one' | 'many'>): string => many;

/** With its article: `a goal`, `an agent`. */
export const oneOf = ({ one }: Pick<AnyResourceSpec, 'one'>): string => `${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one}`;

export const keyOf = ({ key }: Pick<AnyResourceSpec, 'key'>): string => key?.name ?? 'id';

export const itemPathOf = (spec: AnyResourceSpec): string => spec.itemPath ?? `${spec.path}/{${keyOf(spec)}}`;

export const operationOf = (spec: Pick<AnyResourceSpec, 'operations'>, verb: Verb): OperationSpec | undefined => spec.operations?.[verb] || undefined;

/** With the id of a third party's extension in it, `listAcmeTodoTasks`: an area that svc gets later has other names. */
const ownerWord = ({ area }: Pick<AnyResourceSpec, 'area'>): string => (area.includes('-') ? camelCase(area) : '');

export const operationId = (spec: AnyResourceSpec, verb: Verb): string => operationOf(spec, verb)?.id ?? `${verb}${ownerWord(spec)}${camelCase(verb === 'list' ? manyOf(spec) : spec.one)}`;

export const actionId = (spec: AnyResourceSpec, name: string, { id, on = 'item' }: ActionSpec): string => id ?? `${name}${ownerWord(spec)}${camelCase(on === 'list' ? manyOf(spec) : spec.one)}`;

export const actionPath = (spec: AnyResourceSpec, name: string, { on = 'item', path = `/${kebabCase(name)}` }: ActionSpec): string =>
  path.startsWith('/api/') ? path : `${on === 'list' ? spec.path : itemPathOf(spec)}${path}`;

export const actionMethod = ({ method = 'POST' }: ActionSpec): Method => method;

export const updateMethod = (spec: AnyResourceSpec): 'PUT' | 'PATCH' => {
  const method = operationOf(spec, 'update')?.method ?? spec.updateBy ?? (operationOf(spec, 'replace') ? 'PATCH' : 'PUT');
  return method === 'PATCH' ? 'PATCH' : 'PUT';
};

const SHOWN_FIELDS = 4;

/** What a table has room for. */
export const shownColumns = (spec: AnyResourceSpec): readonly ViewColumn[] =>
  (
    spec.columns ??
    [...Object.keys(spec.fields.properties).filter((name) => !Object.hasOwn(spec.writeOnly ?? {}, name)), ...Object.keys(spec.item?.properties ?? spec.computed?.properties ?? {})].slice(
      0,
      SHOWN_FIELDS,
    )
  ).map((column) => (typeof column === 'string' ? { field: column } : column));
