/**
 * Who may grant what.
 *
 * G1  An agent has no grant that the role of its owner does not include: not when it is made, and not when it is used.
 * G2  Owners may grant everything; the other roles what `[capabilities]` of config.toml lists; a person who is not known (any more) nothing.
 * G3  What is withheld is taken away alone: the rest of the agent goes on.
 */
import { type Capabilities, isPrivatePattern, mayUseShell, type Role } from '@svc/api';
import { worthOf } from './programs.js';

/**
 * `network`: public hosts. `private_network`: addresses and names of this machine and of private networks.
 * `shell`: programs named one by one. `full_shell`: a shell, or a program that is worth one.
 * `mounts`: folders of this machine, for commands in their sandbox.
 * `declared`: whatever installed areas declare; a role may have single ones of them instead, by their names.
 */
export const GRANTS = ['agent_message', 'agent_spawn', 'declared', 'file_system', 'full_shell', 'mounts', 'network', 'private_network', 'shell'] as const;
export type Grant = (typeof GRANTS)[number];

/** What a person of each role may grant: some of `GRANTS`, and names of declared capabilities. */
export type RoleGrants = Readonly<Record<'admin' | 'user' | 'viewer', readonly string[]>>;

export interface Withheld {
  /** One of `GRANTS`, or the name of a declared capability. */
  readonly grant: string;
  /** As the manifest says it: `shell = "cat *"`. */
  readonly what: string;
}

export interface Bounded {
  readonly capabilities: Capabilities;
  readonly withheld: readonly Withheld[];
}

export const grantsOf = (role: Role | undefined, table: RoleGrants): readonly string[] => {
  if (role === 'owner' || role === 'system') return GRANTS;
  return role === undefined || role === 'public' ? [] : table[role];
};

/** The capabilities without what is not among `mayGrant`. The same object when nothing is withheld. */
export const bound = (capabilities: Capabilities, mayGrant: readonly string[]): Bounded => {
  if (GRANTS.every((grant) => mayGrant.includes(grant))) return { capabilities, withheld: [] };
  const withheld: Withheld[] = [];
  const isKept = (grant: string, what: string, family = grant): boolean => {
    if (mayGrant.includes(grant) || mayGrant.includes(family)) return true;
    withheld.push({ grant, what });
    return false;
  };
  const bounded: Capabilities = {
    ...capabilities,
    shell: capabilities.shell.filter((pattern) => isKept(grantOfCommand(pattern), `shell = "${pattern}"`)),
    network: capabilities.network.filter((pattern) => isKept(isPrivatePattern(pattern) ? 'private_network' : 'network', `network = "${pattern}"`)),
    agent_message: capabilities.agent_message.filter((pattern) => isKept('agent_message', `agent_message = "${pattern}"`)),
    agent_spawn: capabilities.agent_spawn && isKept('agent_spawn', 'agent_spawn = true'),
    file_system: capabilities.file_system && isKept('file_system', 'file_system = true'),
    ...(capabilities.mounts ? { mounts: capabilities.mounts.filter((mount) => isKept('mounts', `mounts = "${mount}"`)) } : {}),
    ...(capabilities.declared ? { declared: boundDeclared(capabilities.declared, (name, value) => isKept(name, `${name} = ${value}`, 'declared')) } : {}),
  };
  return withheld.length === 0 ? { capabilities, withheld } : { capabilities: bounded, withheld };
};

const boundDeclared = (declared: NonNullable<Capabilities['declared']>, isKept: (name: string, value: string) => boolean): NonNullable<Capabilities['declared']> =>
  Object.fromEntries(
    Object.entries(declared).map(([name, grant]) => [name, typeof grant === 'boolean' ? grant && isKept(name, 'true') : grant.filter((pattern) => isKept(name, JSON.stringify(pattern)))]),
  );

const grantOfCommand = (pattern: string): Grant => (worthOf(pattern) === 'a shell' ? 'full_shell' : 'shell');

/** Which grant, which permission, and who has it. */
export const whyWithheld = ({ grant, what }: Withheld, role: Role | undefined): string => {
  const whose = role === undefined ? 'its owner is not known to this daemon (any more)' : `its owner has the role ${role}, which may not grant that`;
  return `[capabilities] ${what.slice(0, 200)} needs the permission ${grant}, and ${whose}. An owner or admin of this daemon can: make the agent themselves, or add "${grant}" to ${role ?? 'the role'} under [capabilities] in config.toml.`;
};

/** What the person who grants this should know. */
export const reviewOf = (capabilities: Capabilities): string[] => capabilities.shell.map((pattern) => remarkOn(pattern.trim(), capabilities)).filter((remark) => remark !== '');

const remarkOn = (pattern: string, grants: Capabilities): string => {
  const name = `[capabilities] shell = "${pattern.slice(0, 100)}"`;
  if (pattern === '*' && mayUseShell(grants)) return `${name} grants a whole shell: whatever its sandbox lets it do; without a sandbox all that the user who runs this daemon can, its keys included.`;
  const worth = worthOf(pattern);
  if (worth === 'a shell') return `${name} names a program that runs any code it is given, or code from the workspace: it is as powerful as shell = "*".`;
  if (worth === 'with options refused') {
    return `${name} names a program that can run others. The options for that are refused at each call; what its own configuration files make it run cannot be seen from here.`;
  }
  const [program = ''] = pattern.split(/\s/);
  return program.includes('/') && !program.startsWith('/') ? `${name} names a program in the workspace, which the agent may rewrite.` : '';
};
