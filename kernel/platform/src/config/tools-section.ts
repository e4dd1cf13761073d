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
      description: 'Whether commands of agents run in an operating system sandbox (bubblewrap). auto: if it works; required: commands without a sandbox are refused; off: never',
    }),
    sandbox_memory_mb: bound(DEFAULTS.sandbox_memory_mb, 64, 1_048_576, 'Memory limit for all processes of one command; they are stopped above it'),
    sandbox_processes: bound(DEFAULTS.sandbox_processes, 8, 32_768, 'Maximum number of processes and threads of one command; they are stopped above it'),
    sandbox_disk_mb: bound(DEFAULTS.sandbox_disk_mb, 1, 1_048_576, 'Size limit of a workspace for commands; above it they can only delete files'),
    sandbox_tmp_mb: bound(DEFAULTS.sandbox_tmp_mb, 1, 65_536, 'Size of /tmp for one command, deleted when it ends'),
    sandbox_network_mb: bound(DEFAULTS.sandbox_network_mb, 1, 1_048_576, 'Network traffic limit of one command, both directions together'),
  },
  { additionalProperties: false, 'x-security': true },
);
export type ToolsSettings = Plain<typeof ToolsSection>;

/** The section was validated when it was read; where none is claimed, the defaults. */
export const toolsSettings = (config: { get(section: string): unknown }): ToolsSettings => ({ ...DEFAULTS, ...((config.get('tools') ?? {}) as Partial<ToolsSettings>) });
