/** `[tools]`: how commands of agents are kept apart, and what they may use. */
import { OneOf, type Plain, Type } from '@svc/api';

const APART = 'it says how far commands of agents are kept apart, and what they may use';
const bound = (value: number, minimum: number, maximum: number, description: string) => Type.Integer({ default: value, minimum, maximum, 'x-by-hand': APART, description });

const DEFAULTS = { sandbox: 'auto', sandbox_memory_mb: 2_048, sandbox_processes: 256, sandbox_disk_mb: 4_096, sandbox_tmp_mb: 256, sandbox_network_mb: 256 } as const;

export const ToolsSection = Type.Object(
  {
    sandbox: OneOf(['auto', 'required', 'off'], {
      default: DEFAULTS.sandbox,
      'x-by-hand': APART,
      description: 'Commands of agents run in a sandbox of the operating system (bubblewrap). auto: where it works, else without one; required: nowhere else; off: never',
    }),
    sandbox_memory_mb: bound(DEFAULTS.sandbox_memory_mb, 64, 1_048_576, 'What all processes of one command may use together; more ends them'),
    sandbox_processes: bound(DEFAULTS.sandbox_processes, 8, 32_768, 'How many processes and threads one command may have at a time; more ends them'),
    sandbox_disk_mb: bound(DEFAULTS.sandbox_disk_mb, 1, 1_048_576, 'How large a workspace may get by commands; beyond it they can remove files, and write none'),
    sandbox_tmp_mb: bound(DEFAULTS.sandbox_tmp_mb, 1, 65_536, 'What one command may keep in /tmp, which is gone when it ends'),
    sandbox_network_mb: bound(DEFAULTS.sandbox_network_mb, 1, 1_048_576, 'What one command may exchange with the hosts that are granted, both directions together'),
  },
  { additionalProperties: false, 'x-security': true },
);
export type ToolsSettings = Plain<typeof ToolsSection>;

/** The section was validated when it was read; where none is claimed, the defaults. */
export const toolsSettings = (config: { get(section: string): unknown }): ToolsSettings => ({ ...DEFAULTS, ...((config.get('tools') ?? {}) as Partial<ToolsSettings>) });
