/** Keys of `[capabilities]` that installed areas declare: validated and read by what they declared, beside the interface's own keys. */
import { type CapabilityDecl, type Finding, isTable, patternFault } from '@svc/api';
import { textsOf } from './texts.js';

type Table = Readonly<Record<string, unknown>>;
type Grant = boolean | readonly string[];

const MAX_PATTERNS = 1_000;
const MAX_PATTERN_LENGTH = 1_000;

/** What `[capabilities]` says of them: whatever is wrong is refused, since somebody relies on a grant as it was meant. */
export const grantFindings = (raw: Table, declared: readonly CapabilityDecl[]): Finding[] =>
  declared.flatMap((capability) => {
    const value = writtenOf(raw, capability);
    const fault = value === undefined ? undefined : faultOf(capability, value);
    const path = ['capabilities', capability.name];
    return fault === undefined ? [] : [{ path, message: `${path.join('.')} ${fault}. Write ${lineOf(capability)}, or leave it out`, expected: EXPECTED[capability.grant], fatal: true }];
  });

const EXPECTED: Readonly<Record<CapabilityDecl['grant'], string>> = { flag: 'true or false', names: 'a list of patterns', hosts: 'a list of hosts' };

const lineOf = ({ name, grant }: CapabilityDecl): string => `${name} = ${{ flag: 'true', names: '["*"]', hosts: '["*.example.org"]' }[grant]}`;

const faultOf = (capability: CapabilityDecl, value: unknown): string | undefined => {
  if (capability.grant === 'flag') return typeof value === 'boolean' ? undefined : 'must be true or false';
  const patterns = textsOf(value);
  if (patterns === undefined) return `must be ${EXPECTED[capability.grant]}`;
  if (patterns.length > MAX_PATTERNS) return `has ${patterns.length} patterns; at most ${MAX_PATTERNS} are kept`;
  for (const pattern of patterns) {
    const fault = pattern.length > MAX_PATTERN_LENGTH ? `is longer than ${MAX_PATTERN_LENGTH} characters` : patternFault(capability, pattern);
    if (fault !== undefined) return `has the pattern "${pattern.slice(0, 100)}", which ${fault}`;
  }
  return undefined;
};

/** The manifest without them: for the validator of the interface's own keys. */
export const withoutDeclared = (raw: Table, declared: readonly CapabilityDecl[]): Table => {
  const section = raw.capabilities;
  if (!isTable(section)) return raw;
  const names = new Set(declared.map(({ name }) => name));
  return { ...raw, capabilities: Object.fromEntries(Object.entries(section).filter(([key]) => !names.has(key))) };
};

/** The grants as they were written; undefined where there are none. Only of a manifest without findings. */
export const declaredGrants = (raw: Table, declared: readonly CapabilityDecl[]): Readonly<Record<string, Grant>> | undefined => {
  const grants = declared.flatMap((capability): Array<[string, Grant]> => {
    const value = writtenOf(raw, capability);
    const grant = typeof value === 'boolean' ? value : value === undefined ? undefined : textsOf(value);
    return grant === undefined ? [] : [[capability.name, grant]];
  });
  return grants.length === 0 ? undefined : Object.fromEntries(grants);
};

const writtenOf = ({ capabilities }: Table, { name }: CapabilityDecl): unknown => (isTable(capabilities) && Object.hasOwn(capabilities, name) ? capabilities[name] : undefined);
