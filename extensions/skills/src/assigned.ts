/** Which skills an agent has. */
import type { AgentManifest } from '@svc/ext-agents/contract';
import { matchesAny } from '@svc/api';
import type { Entry, Library } from './library.js';
import { worstOf } from './install/scan.js';

export const READ_TOOL = 'skill_read_file';

export type SkillMode = 'all' | 'allowlist' | 'none';
type Assigning = Pick<AgentManifest, 'skills' | 'skills_disabled'>;

export const modeOf = ({ skills, skills_disabled: isOff }: Assigning): SkillMode => (isOff ? 'none' : skills === undefined || skills.length === 0 ? 'all' : 'allowlist');

const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows', linux: 'linux' };

/** Why a skill is switched off; undefined while it is on. */
export const offReason = (entry: Entry, isDisabled: (name: string) => boolean): string | undefined => {
  if (entry.fault) return `${entry.fault.file}, line ${entry.fault.line}: ${entry.fault.message}.`;
  if (isDisabled(entry.name)) return 'It is listed under [skills] disabled in config.toml.';
  const os: readonly string[] = entry.skill?.requires.os ?? [];
  const own = SYSTEMS[process.platform] ?? process.platform;
  return os.length > 0 && !os.includes(own) ? `It is for ${os.join(', ')} only.` : undefined;
};

export interface Assigned {
  isOn(entry: Entry): boolean;
  /** Those that are on, by the manifest. */
  of(manifest: Assigning): readonly Entry[];
  has(manifest: Assigning, name: string): Entry | undefined;
}

export const createAssigned = (library: Library, isDisabled: (name: string) => boolean): Assigned => {
  const isOn = (entry: Entry): boolean => offReason(entry, isDisabled) === undefined;
  const isGiven = (manifest: Assigning, name: string): boolean => {
    const mode = modeOf(manifest);
    return mode === 'all' || (mode === 'allowlist' && (manifest.skills?.includes(name) ?? false));
  };
  return {
    isOn,
    of: (manifest) => (modeOf(manifest) === 'none' ? [] : library.list().filter((entry) => isGiven(manifest, entry.name) && isOn(entry))),
    has: (manifest, name) => {
      const entry = library.find(name);
      return entry && isGiven(manifest, entry.name) && isOn(entry) ? entry : undefined;
    },
  };
};

/** Whether the agent can load a skill at all. */
export const mayRead = ({ tools_disabled: isOff, mode_tools: mode, capabilities, tool_allowlist: allowed, tool_blocklist: blocked }: AgentManifest): boolean =>
  !isOff &&
  mode !== 'none' &&
  (capabilities.tools.length === 0 || matchesAny(capabilities.tools, READ_TOOL)) &&
  (allowed.length === 0 || matchesAny(allowed, READ_TOOL)) &&
  !matchesAny(blocked, READ_TOOL);

/** What a model reads of it is text from outside: something was found in it. */
export const isTainted = ({ findings }: Entry): boolean => ['warning', 'critical'].includes(worstOf(findings));
