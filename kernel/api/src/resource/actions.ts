/** Actions of a resource: what is done with an item, or with the list, beside reading and writing it. */
import type { AuditCategory } from '../declare/audit.js';
import type { ActionButton } from '../declare/collection-view.js';
import type { CommandOutput } from '../declare/command.js';
import type { Method } from '../http/http.js';
import type { TObject, TSchema } from '../schema/schema.js';

/** One entry gives the route, its permission and audit entry, the button, and the command `svc AREA ACTION KEY`. */
export interface ActionSpec {
  /** Default `item`: its route ends in the item's address, and its handler gets the item. */
  readonly on?: 'item' | 'list';
  /** The operationId. Default: the name of the action and the word, `retryTask`. */
  readonly id?: string;
  /** Default POST. */
  readonly method?: Method;
  /** Appended to the address of the item or the list; default `/` and the name. One that begins with `/api/` stands alone. */
  readonly path?: string;
  readonly summary: string;
  readonly description?: string;
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly query?: TObject;
  readonly body?: TSchema;
  readonly bodyRule?: 'required' | 'optional';
  readonly answer: TSchema;
  /** Default 200. */
  readonly status?: number;
  /** Default `<area>.write`, of a GET `<area>.read`. */
  readonly permission?: string;
  readonly cost?: number;
  /** Errors that its handler throws, by status; 404 is among those of an item. */
  readonly errors?: readonly number[];
  /** Default: the word and the action, `task_retry`; of a GET none. */
  readonly audit?: string | false;
  readonly auditCategory?: AuditCategory;
  readonly idempotent?: boolean;
  /** The handler does not need the item: it is not read first, and access is the handler's matter. */
  readonly isBlind?: boolean;
  /** What is said when it is done, on the page and on the command line; `{field}` is a field of the answer or of the item. */
  readonly done?: ActionButton['done'];
  /** On the page. Left out, there is none. */
  readonly button?: Omit<ActionButton, 'name' | 'method' | 'path' | 'permission' | 'body' | 'done' | 'on'>;
  /** The command; false for none. Default: the name of the action, with the key. */
  readonly command?: false | { readonly verb?: string; readonly summary?: string; readonly args?: readonly string[]; readonly output?: CommandOutput; readonly confirm?: string | false };
  /** As a message, `/name KEY`: of an action that needs no body. It answers with `done`. */
  readonly slash?: { readonly name: string; readonly summary?: string };
}

export type ActionSpecs = Readonly<Record<string, ActionSpec>>;
