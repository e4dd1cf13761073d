/**
 * What the operator leaves of the commands of all agents: `[exec_policy]` allowed_commands, safe_bins and no_output_timeout_secs.
 *
 * E1  It narrows what a manifest grants, and adds nothing: a command needs both.
 * E2  Where it names programs nobody gets a shell, as a shell runs any program.
 */
import type { Capabilities, ExecLimits } from '@svc/api';

export interface ExecSettings {
  readonly allowed_commands?: readonly string[] | undefined;
  readonly safe_bins?: readonly string[] | undefined;
  readonly no_output_timeout_secs?: number | undefined;
}

const UNLIMITED: ExecLimits = { mode: 'full', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null };

/** The same object where the settings narrow nothing. */
export const narrowedBy = (settings: ExecSettings, capabilities: Capabilities): Capabilities => {
  const programs = programsOf(settings);
  const silence = settings.no_output_timeout_secs;
  if (programs === undefined && silence === undefined) return capabilities;
  const own = capabilities.exec ?? UNLIMITED;
  return {
    ...capabilities,
    exec: {
      ...own,
      ...(programs === undefined ? {} : { mode: own.mode === 'deny' ? 'deny' : 'allowlist', programs: own.programs?.filter((name) => programs.includes(name)) ?? programs }),
      ...(silence === undefined ? {} : { no_output_timeout_secs: Math.min(silence, own.no_output_timeout_secs ?? silence) }),
    },
  };
};

/** `allowed_commands = ["git *"]` names git, as in a manifest. Undefined where nothing is named. */
const programsOf = ({ allowed_commands, safe_bins }: ExecSettings): readonly string[] | undefined =>
  allowed_commands === undefined && safe_bins === undefined ? undefined : [...(allowed_commands ?? []), ...(safe_bins ?? [])].map((command) => command.trim().split(/\s+/)[0] ?? '');
