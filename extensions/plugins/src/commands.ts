/** `svc plugins`: what is one call is data; installing, with its question, is in cli/plugins.ts. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  { word: 'plugins', summary: 'plugins: scripts that add to what agents see', usage: 'plugins list|create|install|enable|disable|test|lint|sign|doctor|traces|…', order: 35, module: 'plugins' },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'plugins list',
    summary: 'list the plugins',
    operation: 'listPlugins',
    output: {
      kind: 'table',
      rows: 'plugins',
      empty: 'There are no plugins. Create one with: svc plugins create NAME',
      columns: [
        { field: 'name' },
        { field: 'version' },
        { field: 'runtime' },
        { field: 'enabled' },
        { field: 'active' },
        { field: 'hooks_valid', title: 'VALID' },
        { field: 'description', shrinks: true },
      ],
    },
  },
  {
    command: 'plugins registries',
    summary: 'list the registries of plugins',
    operation: 'listPluginRegistries',
    output: {
      kind: 'table',
      rows: 'registries',
      empty: 'config.toml names no registry: [[context_engine.plugin_registries]].',
      columns: [{ field: 'name' }, { field: 'url' }, { field: 'github_repo', title: 'REPOSITORY' }, { field: 'error', shrinks: true }],
    },
  },
  { command: 'plugins show', summary: 'show one plugin', operation: 'getPlugin', args: ['name'], output: { kind: 'record' } },
  { command: 'plugins status', summary: 'show whether its hooks run, and its walls', operation: 'getPluginStatus', args: ['name'], output: { kind: 'record' } },
  { command: 'plugins health', summary: 'show counts of the calls of its hooks', operation: 'getPluginHealth', args: ['name'], output: { kind: 'record' } },
  { command: 'plugins env', summary: 'show its variables', operation: 'getPluginEnv', args: ['name'], output: { kind: 'record' } },
  { command: 'plugins enable', summary: 'enable a plugin', operation: 'enablePlugin', args: ['name'], output: { kind: 'line', text: '{name} is enabled. {message}' } },
  { command: 'plugins disable', summary: 'disable a plugin', operation: 'disablePlugin', args: ['name'], output: { kind: 'line', text: '{name} is disabled. {message}' } },
  { command: 'plugins reload', summary: 'look for its launcher again, and let failed hooks run', operation: 'reloadPlugin', args: ['name'], output: { kind: 'line', text: '{name} is reloaded.' } },
  {
    command: 'plugins sign',
    summary: 'sign its hooks and its manifest',
    operation: 'signPlugin',
    args: ['name'],
    output: { kind: 'line', text: '{plugin} is signed: {count} hooks, public key {public_key}' },
  },
  {
    command: 'plugins uninstall',
    summary: 'remove a plugin',
    operation: 'uninstallPlugin',
    args: ['name'],
    confirm: 'Remove the plugin {name} with its files?',
    output: { kind: 'line', text: 'Removed {name}.' },
  },
  {
    command: 'plugins traces',
    summary: 'list the calls of hooks, newest first',
    operation: 'listPluginTraces',
    output: {
      kind: 'table',
      rows: 'traces',
      empty: 'No hook was called yet.',
      columns: [
        { field: 'started_at', title: 'AT', format: 'ago' },
        { field: 'plugin' },
        { field: 'hook' },
        { field: 'elapsed_ms', title: 'MS', format: 'number' },
        { field: 'error' },
        { field: 'message', shrinks: true },
        { field: 'note', shrinks: true },
      ],
    },
  },
];
