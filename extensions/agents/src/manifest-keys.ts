/**
 * The keys of agent.toml. `acts` are those this daemon acts on; `known` belong
 * to the format but nothing here acts on them yet, and whoever uses one is told.
 */

interface Keys {
  readonly acts: readonly string[];
  readonly known: readonly string[];
}

export const TOP_KEYS: Keys = {
  acts: [
    'name',
    'version',
    'description',
    'author',
    'tags',
    'model',
    'fallback_models',
    'capabilities',
    'resources',
    'autonomous',
    'tool_allowlist',
    'tool_blocklist',
    'tools_disabled',
    'exec_policy',
    'metadata',
  ],
  known: [
    ...['module', 'enabled', 'profile', 'priority', 'schedule', 'session_mode', 'max_concurrent_invocations', 'max_history_messages', 'workspace', 'generate_identity_files', 'cache_context'],
    ...['lazy_tools', 'skills', 'skills_disabled', 'mcp_servers', 'mcp_disabled', 'channels', 'allowed_plugins', 'pinned_model', 'inherit_parent_context', 'response_format'],
    ...['show_progress', 'auto_evolve', 'web_search_augmentation', 'auto_dream_enabled', 'auto_dream_min_hours', 'auto_dream_min_sessions', 'assignee_wake', 'tool_exec_backend'],
    ...['reconcile_orphans', 'is_hand', 'routing', 'thinking', 'tools', 'workspaces', 'compaction', 'context_engine', 'context_injection', 'proactive_memory', 'skill_workshop'],
    ...['channel_overrides', 'triggers', 'async_tasks', 'rl_export', 'i18n'],
  ],
};

export const SECTION_KEYS: Readonly<Record<'model' | 'capabilities' | 'resources' | 'autonomous', Keys>> = {
  model: { acts: ['provider', 'model', 'name', 'max_tokens', 'temperature', 'system_prompt', 'request_timeout_secs'], known: ['api_key_env', 'base_url', 'context_window', 'max_output_tokens'] },
  capabilities: {
    acts: ['tools', 'network', 'memory_read', 'memory_write', 'shell', 'agent_spawn', 'agent_message', 'file_system', 'max_llm_tokens_per_hour'],
    known: ['ofp_discover', 'ofp_connect'],
  },
  resources: {
    acts: ['max_llm_tokens_per_hour', 'max_tool_calls_per_minute'],
    known: [
      ...['burst_ratio', 'max_cost_per_hour_usd', 'max_cost_per_day_usd', 'max_cost_per_month_usd', 'max_network_bytes_per_hour'],
      ...['max_memory_bytes', 'max_cpu_time_ms', 'max_concurrent_tools'],
    ],
  },
  autonomous: {
    acts: ['max_iterations', 'unwatched'],
    known: ['max_restarts', 'heartbeat_interval_secs', 'heartbeat_timeout_secs', 'heartbeat_keep_recent', 'heartbeat_channel', 'quiet_hours', 'block_stall_degrade_after'],
  },
};
