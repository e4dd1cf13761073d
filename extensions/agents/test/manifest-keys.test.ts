import { readFile } from 'node:fs/promises';
import type { TSchema } from '@svc/api';
import { expect } from 'chai';
import { APPROVAL_KEYS, CAPABILITY_KEYS, type KeyNotes, MODEL_KEYS, RESOURCE_KEYS, AUTONOMOUS_KEYS, THINKING_KEYS, TOP_KEYS, manifestSchema } from '../src/manifest/manifest-keys.js';

/** Every key that the format of agent.toml knows. */
const FORMAT: Readonly<Record<string, readonly string[]>> = {
  top: [
    ...['name', 'version', 'description', 'author', 'module', 'enabled', 'tags', 'profile', 'priority', 'schedule', 'session_mode', 'max_concurrent_invocations', 'max_history_messages'],
    ...['workspace', 'generate_identity_files', 'cache_context', 'lazy_tools', 'tool_allowlist', 'tool_blocklist', 'tools_disabled', 'skills', 'skills_disabled', 'mcp_servers', 'mcp_disabled'],
    ...['channels', 'allowed_plugins', 'pinned_model', 'inherit_parent_context', 'response_format', 'exec_policy', 'show_progress', 'auto_evolve', 'web_search_augmentation'],
    ...['auto_dream_enabled', 'auto_dream_min_hours', 'auto_dream_min_sessions', 'assignee_wake', 'tool_exec_backend', 'reconcile_orphans', 'is_hand', 'fallback_models'],
    ...['model', 'capabilities', 'resources', 'routing', 'autonomous', 'thinking', 'tools', 'metadata', 'workspaces', 'compaction', 'context_engine', 'context_injection', 'proactive_memory'],
    ...['skill_workshop', 'channel_overrides', 'triggers', 'async_tasks', 'rl_export', 'i18n'],
    'approval', // of svc itself
  ],
  approval: ['require_approval', 'rules'],
  model: ['provider', 'model', 'name', 'max_tokens', 'temperature', 'system_prompt', 'api_key_env', 'base_url', 'context_window', 'max_output_tokens', 'request_timeout_secs'],
  capabilities: ['tools', 'network', 'memory_read', 'memory_write', 'shell', 'agent_spawn', 'agent_message', 'ofp_discover', 'ofp_connect', 'file_system', 'mounts', 'max_llm_tokens_per_hour'],
  resources: [
    ...['max_llm_tokens_per_hour', 'burst_ratio', 'max_tool_calls_per_minute', 'max_cost_per_hour_usd', 'max_cost_per_day_usd', 'max_cost_per_month_usd', 'max_network_bytes_per_hour'],
    ...['max_memory_bytes', 'max_cpu_time_ms', 'max_concurrent_tools'],
  ],
  autonomous: [
    'max_iterations',
    'unwatched',
    'max_restarts',
    'heartbeat_interval_secs',
    'heartbeat_timeout_secs',
    'heartbeat_keep_recent',
    'heartbeat_channel',
    'quiet_hours',
    'block_stall_degrade_after',
  ],
  thinking: ['budget_tokens', 'stream_thinking'],
};

const TABLES: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  top: TOP_KEYS,
  model: MODEL_KEYS,
  capabilities: CAPABILITY_KEYS,
  resources: RESOURCE_KEYS,
  autonomous: AUTONOMOUS_KEYS,
  thinking: THINKING_KEYS,
  approval: APPROVAL_KEYS,
};

/** Keys that cap, narrow or redirect something that is here: none of them may merely wait. */
const BINDING = [
  ...['top.enabled', 'top.profile', 'top.tool_allowlist', 'top.tool_blocklist', 'top.tools_disabled', 'top.module', 'top.workspace', 'top.response_format', 'top.tool_exec_backend', 'top.routing'],
  ...['top.tools', 'top.max_history_messages', 'model.base_url', 'model.api_key_env', 'model.max_tokens', 'model.max_output_tokens', 'model.context_window', 'model.request_timeout_secs'],
  ...['resources.max_llm_tokens_per_hour', 'resources.burst_ratio', 'resources.max_cost_per_hour_usd', 'resources.max_cost_per_day_usd', 'resources.max_cost_per_month_usd'],
  ...['resources.max_concurrent_tools', 'resources.max_network_bytes_per_hour', 'autonomous.max_iterations', 'capabilities.tools', 'capabilities.network', 'capabilities.shell'],
  ...['capabilities.file_system', 'capabilities.agent_spawn', 'capabilities.agent_message', 'capabilities.mounts', 'capabilities.max_llm_tokens_per_hour'],
];

describe('the keys of a manifest', () => {
  it('are all in the table, each with what becomes of it, and a reason where nothing acts on it', () => {
    for (const [section, keys] of Object.entries(FORMAT)) {
      expect(Object.keys(TABLES[section] ?? {}).sort(), section).to.deep.equal([...keys].sort());
      for (const [key, schema] of Object.entries(TABLES[section] ?? {})) {
        const notes = schema as Partial<KeyNotes>;
        expect(notes['x-effect'], key).to.be.oneOf(['acts', 'shown', 'waits', 'refused']);
        if (notes['x-effect'] === 'waits' || notes['x-effect'] === 'refused') expect(notes['x-why'], key).to.match(/\w{3}/);
      }
    }
  });

  it('act or are refused where they narrow, redirect or cap', () => {
    for (const name of BINDING) {
      const [section = '', key = ''] = name.split('.');
      expect((TABLES[section]?.[key] as Partial<KeyNotes> | undefined)?.['x-effect'], name).to.be.oneOf(['acts', 'refused']);
    }
  });

  it('are published for editors as the table has them', async () => {
    const published: unknown = JSON.parse(await readFile('schemas/agent.schema.json', 'utf8'));
    expect(published, 'write schemas/agent.schema.json anew from manifestSchema').to.deep.equal(JSON.parse(JSON.stringify(manifestSchema)));
  });
});
