/** A manifest as a person would write it: what `manifestFrom` reads gives the same manifest again. */
import { type ExecLimits, isTable, tableOf } from '@svc/api';
import { isDeepStrictEqual } from 'node:util';
import type { AgentManifest } from '../contract.js';
import { manifestFrom } from './manifest-reader.js';

type Table = Readonly<Record<string, unknown>>;

/** Every key, those that say what holds anyway included. */
export const writtenManifest = (manifest: AgentManifest): Table => {
  const { capabilities, model, asked_model, mode_tools: _ofItsMode, thinking, autonomous, kept, max_history_messages, ...top } = manifest;
  const { declared, exec, sources: _ofItsServers, max_tool_calls_per_minute, max_llm_tokens_per_hour, ...grants } = capabilities;
  const written: Table = {
    ...top,
    model: set({ ...model, ...asked_model }),
    ...set({ max_history_messages, thinking }),
    capabilities: { ...declared, ...grants, ...set({ max_llm_tokens_per_hour }) },
    resources: { ...manifest.resources, ...set({ max_tool_calls_per_minute }) },
    ...(exec ? { exec_policy: writtenPolicy(exec) } : {}),
    autonomous: set({ ...autonomous }),
  };
  return withKept(written, kept);
};

/** Keys whose value is none are left out, as a manifest says it. */
const set = (table: Table): Table => Object.fromEntries(Object.entries(table).filter(([, value]) => value !== null && value !== undefined));

/** The parent's policy in a child's manifest, too. */
export const writtenPolicy = ({ mode, programs, env, ...limits }: ExecLimits): Table => ({
  mode,
  ...set({ allowed_commands: programs, allowed_env_vars: env, ...limits }),
});

/** Keys that were kept stand where they stood: some of them in sections of which others act. */
const withKept = (written: Table, kept: Table): Table => {
  const out: Record<string, unknown> = { ...written };
  for (const [key, value] of Object.entries(kept)) {
    const section = out[key];
    out[key] = isTable(section) && isTable(value) ? { ...value, ...section } : value;
  }
  return out;
};

/** Only what differs from a manifest without that key: for people to read. */
export const shortManifest = (manifest: AgentManifest): Table => {
  const usual = writtenManifest(manifestFrom({}));
  const { name, version, description, model, capabilities, ...rest } = writtenManifest(manifest);
  return {
    name,
    ...unusual({ version, description }, usual),
    ...unusual(rest, usual, ['profile']),
    model: { ...(isTable(model) ? unusual(model, tableOf(usual.model), ['provider', 'model', 'system_prompt']) : {}) },
    capabilities: unusual(tableOf(capabilities), tableOf(usual.capabilities), ['tools']),
  };
};

const unusual = (table: Table, usual: Table, always: readonly string[] = []): Table => {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) {
    if (!always.includes(key) && isDeepStrictEqual(value, usual[key])) continue;
    const inner = isTable(value) ? unusual(value, tableOf(usual[key]), always) : value;
    out[key] = inner;
  }
  return out;
};
