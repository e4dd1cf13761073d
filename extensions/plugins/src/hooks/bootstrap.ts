/**
 * The hook `bootstrap`: asked once, before the first other hook of a plugin, and again after its files changed.
 *
 * B1  It can set variables of its own hooks, narrow `ingest` to messages with a text, and give up the network. It can lower no wall.
 */
import { isTable } from '@svc/api';
import type { HookHome } from './start.js';
import { isEnvName } from './start.js';
import type { Asked, Ran } from './attempt.js';

export interface BootstrapDeps {
  run(home: HookHome, asked: Asked): Promise<Ran>;
  window(): Promise<number | null>;
  readonly maxRecallResults: number;
}

export interface Bootstraps {
  /** As it is once `bootstrap` has answered. */
  after(home: HookHome, asked: Omit<Asked, 'more' | 'check'>): Promise<HookHome>;
  forget(plugin: string): void;
}

type Overrides = Readonly<Record<string, unknown>> | undefined;

export const createBootstraps = (deps: BootstrapDeps): Bootstraps => {
  const known = new Map<string, { readonly manifest: string; readonly answer: Promise<Overrides> }>();
  const ask = async (home: HookHome, asked: Asked): Promise<Overrides> => {
    const more = { context_window_tokens: await deps.window(), stable_prefix_mode: false, max_recall_results: deps.maxRecallResults };
    return (await deps.run(home, { ...asked, message: '', peerId: null, more })).effect.used;
  };
  return {
    after: async (home, asked) => {
      if (home.manifest.hooks.bootstrap === undefined) return home;
      const manifest = JSON.stringify(home.manifest.raw);
      let one = known.get(home.name);
      if (one?.manifest !== manifest) {
        one = { manifest, answer: ask(home, asked) };
        known.set(home.name, one);
      }
      return changed(home, await one.answer);
    },
    forget: (plugin) => void known.delete(plugin),
  };
};

const changed = (home: HookHome, answer: Overrides): HookHome => {
  if (!answer) return home;
  const env = isTable(answer.env_overrides)
    ? Object.fromEntries(Object.entries(answer.env_overrides).flatMap(([name, value]) => (isEnvName(name) && typeof value === 'string' && !value.includes('${') ? [[name, value]] : [])))
    : {};
  const filter = typeof answer.ingest_filter === 'string' ? { ingestFilter: answer.ingest_filter } : {};
  return {
    ...home,
    manifest: { ...home.manifest, ...filter, env: { ...home.manifest.env, ...env } },
    lowered: answer.allow_network === false ? { ...home.lowered, network: false } : home.lowered,
  };
};
