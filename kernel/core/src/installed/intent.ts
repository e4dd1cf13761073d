/** Whether an extension should be on: one question, one answer. A person's choice, else config.toml, else the preset. */

export interface IntentSources {
  /** Stored by `svc ext enable|disable`; undefined when nobody chose. */
  readonly choices: ReadonlyMap<string, boolean>;
  readonly configEnable: readonly string[];
  readonly configDisable: readonly string[];
  readonly preset: { readonly name: string; readonly extensions: readonly string[]; readonly essential: readonly string[] };
}

export interface Intent {
  readonly enabled: boolean;
  readonly decidedBy: 'choice' | 'config' | 'preset';
}

export const intentOf = (id: string, sources: IntentSources): Intent => {
  const choice = sources.choices.get(id);
  if (choice !== undefined) return { enabled: choice, decidedBy: 'choice' };
  if (sources.configDisable.includes(id)) return { enabled: false, decidedBy: 'config' };
  if (sources.configEnable.includes(id)) return { enabled: true, decidedBy: 'config' };
  return { enabled: sources.preset.extensions.includes(id), decidedBy: 'preset' };
};
