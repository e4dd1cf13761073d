/** `kernel`: all of it with the grant `kernel`; with a narrow grant the members that it opens. */
import type { KernelView } from '@svc/api';
import type { GrantName } from '@svc/api/internal';
import { contextErrors } from '../errors.js';
import type { Grants } from './grants-policy.js';

/** What a narrow grant opens. */
const MEMBERS = {
  'kernel:tools': ['tools'],
  'kernel:slash-commands': ['slashCommands'],
  'kernel:settings': ['settings'],
  'kernel:extensions': ['extensions'],
  'kernel:panels': ['panels', 'panelFiles'],
  'kernel:backups': ['backups'],
  'kernel:replicas': ['replicas'],
} as const satisfies Partial<Record<GrantName, ReadonlyArray<keyof KernelView>>>;
const NARROW = ['kernel:tools', 'kernel:slash-commands', 'kernel:settings', 'kernel:extensions', 'kernel:panels', 'kernel:backups', 'kernel:replicas'] as const;

export const kernelMember = (view: () => KernelView, id: string, grants: Grants): KernelView => {
  if (grants.has('kernel')) return Object.freeze(view());
  const refuse = (): never => {
    throw contextErrors.not_granted(id, 'kernel');
  };
  const open = NARROW.filter((grant) => grants.has(grant)).flatMap((grant) => [...MEMBERS[grant]]);
  return open.length === 0 ? refuse() : only(view(), open, refuse);
};

/** Everything else is refused by name, where it is used: a call when it is called, a value when it is read. */
const only = (view: KernelView, open: ReadonlyArray<keyof KernelView>, refuse: () => never): KernelView => {
  const closed = (Object.keys(view) as Array<keyof KernelView>).filter((name) => !open.includes(name)); // the view is one object literal of exactly these members
  const members = Object.fromEntries(closed.map((name) => [name, typeof view[name] === 'function' ? { value: refuse, enumerable: true } : { get: refuse, enumerable: true }]));
  return Object.freeze(Object.defineProperties({ ...view }, members));
};
