/**
 * What an agent may be granted beyond the capabilities of the interface: an area declares it once, as data. Manifests
 * are read, calls validated and children bounded by the declaration alone, so all of it holds while the area is off.
 */
import { coversHost, isHostPattern } from '../manifest/host-pattern.js';
import { isTable } from '../schema/schema-walk.js';
import { matchesPattern } from '../text/pattern.js';
import type { Capabilities, Need } from '../tools.js';
import { type Declared, frozen } from './plain.js';

/**
 * The form of a grant in `[capabilities]`, and its meaning.
 * `flag`: true or false. `names`: patterns with `*`, compared as text. `hosts`: patterns as of `network`.
 */
export const GRANT_FORMS = ['flag', 'names', 'hosts'] as const;
export type GrantForm = (typeof GRANT_FORMS)[number];

export interface CapabilityOf<F extends GrantForm> extends Declared {
  readonly declares: 'capability';
  /** What an agent that has it may do, for the person who grants it. */
  readonly description: string;
  /** Another form is another capability: grants of the old one would cover nothing. */
  readonly grant: F;
}

export type FlagCapability = CapabilityOf<'flag'>;
export type ListCapability = CapabilityOf<'names' | 'hosts'>;
export type CapabilityDecl = FlagCapability | ListCapability;

/** What a manifest grants of it: `GrantOf<typeof CalendarRead>`. */
export type GrantOf<D extends CapabilityDecl> = D extends FlagCapability ? boolean : readonly string[];

/** Two words or more, of which the first is the area's: no key of the interface is mistyped into one of these. */
export const CAPABILITY_NAME = '^(?=.{3,60}$)[a-z][a-z0-9]*(?:_[a-z0-9]+)+$';
const NAME = new RegExp(CAPABILITY_NAME);

/** The interface's own keys of `[capabilities]`, what stands for them in code, and the permissions of roles. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['tools', 'network', 'memory_read', 'memory_write', 'shell', 'agent_spawn', 'agent_message', 'file_system', 'mounts'],
  ...['exec', 'exec_policy', 'declared', 'sources', 'private_network', 'full_shell'],
]);
/** Limits, of which the interface has more than are known here. */
const RESERVED_PREFIX = 'max_';

/** The problem with a capability name, as the end of a sentence; undefined if the name is valid. */
export const capabilityNameFault = (name: string): string | undefined => {
  if (RESERVED.has(name) || name.startsWith(RESERVED_PREFIX)) return "is the interface's own";
  return NAME.test(name) ? undefined : 'is not a valid capability name: use two or more lower-case words, the first one your area, such as calendar_read';
};

/** Throws for a name that is reserved or has another form. An area lists it under `capabilities` of defineExtension and of extension.json. */
export const defineCapability = <const F extends GrantForm>(name: string, version: string, { description, grant }: { readonly description: string; readonly grant: F }): CapabilityOf<F> => {
  const fault = capabilityNameFault(name);
  if (fault !== undefined) throw new Error(`the capability ${name} ${fault}`);
  if (description.trim() === '') throw new Error(`the capability ${name} has no description: people read it before they grant the capability`);
  if (!GRANT_FORMS.includes(grant)) throw new Error(`the capability ${name} has the grant "${grant}"; there are ${GRANT_FORMS.join(', ')}`);
  return frozen({ declares: 'capability', name, version, description, grant });
};

/** Whether data from elsewhere is such a declaration. */
export const isCapability = (value: unknown): value is CapabilityDecl =>
  isTable(value) &&
  value.declares === 'capability' &&
  typeof value.name === 'string' &&
  capabilityNameFault(value.name) === undefined &&
  typeof value.version === 'string' &&
  typeof value.description === 'string' &&
  GRANT_FORMS.some((form) => form === value.grant);

type Granted = Pick<Capabilities, 'declared'>;

/** What is granted of it; nothing where the grant has another form than the declaration. */
export function grantOf(capability: FlagCapability, granted: Granted): boolean;
export function grantOf(capability: ListCapability, granted: Granted): readonly string[];
export function grantOf({ name, grant }: CapabilityDecl, { declared = {} }: Granted): boolean | readonly string[] {
  const value = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (grant === 'flag') return value === true;
  return typeof value === 'object' ? value : [];
}

/** For `needs` of a tool. A need of a list without a target is one of everything. */
export function needOf(capability: FlagCapability): Need;
export function needOf(capability: ListCapability, target?: string): Need;
export function needOf({ name }: CapabilityDecl, target?: string): Need {
  return { capability: name, ...(target === undefined ? {} : { target }) };
}

/** Whether everything that `wanted` means, a target or a pattern, is covered by one of the patterns. */
export const coversGrant = ({ grant }: ListCapability, patterns: readonly string[], wanted: string): boolean =>
  grant === 'hosts' ? coversHost(patterns, wanted) : patterns.some((pattern) => coversName(pattern, wanted));

/**
 * A pattern is text too: where a grant matches it as text, each `*` of it falls
 * into a `*` of the grant, and so does whatever it could match.
 */
export const coversName = (grant: string, wanted: string): boolean => grant === '*' || grant === wanted || (wanted !== '*' && matchesPattern(grant, wanted));

/** The problem with a pattern of such a list, as the end of a sentence. */
export const patternFault = ({ grant }: ListCapability, pattern: string): string | undefined => {
  if (pattern.trim() === '') return 'is empty';
  return grant === 'hosts' && !isHostPattern(pattern) ? 'is not a host, *.domain, address or block' : undefined;
};
