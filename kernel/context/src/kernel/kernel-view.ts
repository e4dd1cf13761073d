/** What the admin area and `system` may ask and order of the kernel. */
import { settingsOf } from '@svc/platform/config/kernel-sections';
import { hostname } from 'node:os';
import type { AnyTool, Backups, KernelView, SettingsView, SlashCommand } from '@svc/api';
import type { Installation, KernelFacts } from '@svc/api/internal';
import { type ContributionRegistry, type InstalledStore, type Lifecycle, providerOf } from '@svc/core';
import type { KernelAudit } from '@svc/platform/audit/audit-notes';
import { withConsequences } from '@svc/platform/choices/consequences';
import { kernelMetrics } from './kernel-metrics.js';
import { replicasOf } from './replicas.js';
import { panelFilesOf, panelsOf } from './panels.js';
import type { PlatformParts } from '../parts.js';
import type { InstalledFiles } from '@svc/core';

export interface KernelViewParts extends Pick<PlatformParts, 'http' | 'config' | 'home' | 'log' | 'storage' | 'streams' | 'openDir' | 'bus' | 'members'> {
  readonly audit: Pick<KernelAudit, 'failures'>;
  readonly events: { readonly dropped: number };
  readonly version: string;
  readonly startedAt: string;
  readonly presetName: string;
  readonly lifecycle: Lifecycle;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly tools: ContributionRegistry<AnyTool>;
  readonly slashCommands: ContributionRegistry<SlashCommand>;
  /** Areas without which nothing but public routes may answer. */
  requiredSecurity(): readonly string[];
  address(): { host: string; port: number };
  isReady(): boolean;
  readonly settings: SettingsView;
  readonly installation: Installation;
  readonly backups: Backups;
  shutdown(reason: string): void;
}

export const createKernelView = (parts: KernelViewParts): KernelView => ({
  version: parts.version,
  startedAt: parts.startedAt,
  preset: parts.presetName,
  ready: parts.isReady,
  extensions: () => parts.lifecycle.statuses(),
  plan: (action, id) => withConsequences(parts.lifecycle.plan(action, id), { installed: parts.installed.all(), required: parts.requiredSecurity() }),
  enable: (id) => parts.lifecycle.enable(id),
  disable: (id, options) => parts.lifecycle.disable(id, options),
  reset: (id) => parts.lifecycle.reset(id),
  reload: (id) => parts.lifecycle.reload(id),
  panels: () => panelsOf(parts),
  panelFiles: (extension) => panelFilesOf(parts, extension),
  graph: () => graphOf(parts),
  openapi: () =>
    parts.http.openapi({
      title: 'svc API',
      version: parts.version,
      description: 'Hosts autonomous, LLM-driven agents.',
      serverUrl: `http://${parts.address().host}:${parts.address().port}`,
      license: 'MIT',
      areas: Object.fromEntries(parts.installed.all().map(({ id, description }) => [id, description])),
    }),
  anonymousGet: (path) => parts.http.anonymousGet(path),
  routes: () => [
    ...parts.http.routes.active().map(({ owner, value }) => ({ id: value.id, method: value.method, path: value.path, owner: owner.id, auth: value.auth, socket: false })),
    ...parts.http.sockets.active().map(({ owner, value }) => ({ id: value.id, method: 'GET', path: value.path, owner: owner.id, auth: value.auth, socket: true })),
  ],
  tools: () => parts.tools.active().map(({ owner, value }) => ({ owner: owner.id, bundled: parts.installed.get(owner.id)?.bundled ?? false, tool: value })),
  slashCommands: () => parts.slashCommands.active().map(({ owner, value }) => ({ owner: owner.id, command: value })),
  configProblems: () => parts.config.problems().map(({ file, line, key, message, severity }) => ({ file, line, key, message, severity })),
  facts: () => factsOf(parts),
  metrics: () => kernelMetrics(parts),
  replicas: () => replicasOf(parts),
  log: { recent: (count) => parts.log.recent(count), follow: (fn) => parts.log.follow(fn) },
  settings: parts.settings,
  installation: parts.installation,
  backups: parts.backups,
  shutdown: parts.shutdown,
});

function graphOf(parts: KernelViewParts): ReturnType<KernelView['graph']> {
  const manifests = parts.installed.all().map((one) => one.manifest);
  const idsOf = (services: Readonly<Record<string, string>> | undefined): string[] =>
    Object.entries(services ?? {}).flatMap(([service, range]) => {
      const provider = providerOf(service, range, manifests);
      return provider ? [provider.id] : [];
    });
  return parts.lifecycle.statuses().map((status) => {
    const manifest = manifests.find((one) => one.id === status.id);
    const needs = idsOf(manifest?.requires);
    return { id: status.id, state: status.state, needs, uses: idsOf(manifest?.optional), waitsFor: status.state === 'pending' ? needs.filter((id) => !parts.lifecycle.isActive(id)) : [] };
  });
}

function factsOf(parts: KernelViewParts): KernelFacts {
  const { host, port } = parts.address();
  return {
    home_dir: parts.home.home,
    data_dir: parts.home.dataDir,
    database: parts.storage.place,
    log_dir: parts.home.logDir,
    config_file: parts.home.configFile,
    config_exists: parts.config.hasFile(),
    log_level: settingsOf(parts.config, 'log').level,
    hostname: hostname(),
    api_listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    runtime_version: process.version,
    platform: process.platform,
    arch: process.arch,
    pid: process.pid,
    rss_bytes: process.memoryUsage.rss(),
    ...Object.fromEntries(kernelMetrics(parts).flatMap((metric) => ('value' in metric && !metric.labels ? [[metric.name, metric.value]] : []))),
  };
}
