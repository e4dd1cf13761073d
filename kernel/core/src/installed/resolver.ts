/**
 * In which order extensions start, who waits for whom, and what cannot be.
 * Validated from manifests alone, before any code runs.
 */
import type { ExtensionPlan } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { type KernelNames, NO_KERNEL_NAMES, rivalClaim } from './claims.js';
import satisfies from 'semver/functions/satisfies.js';

/** What manifests are validated against. */
export interface Host {
  readonly apiVersion: string;
  readonly names?: KernelNames;
}

export interface Resolution {
  /** Ids that can start once those of earlier waves have; ids in a wave do not need each other. */
  readonly waves: readonly (readonly string[])[];
  /** Ids that cannot start now, each with the reason a person reads. */
  readonly blocked: ReadonlyMap<string, string>;
}

interface Node {
  readonly id: string;
  readonly needs: ReadonlySet<string>;
}

/** `enabled` are the manifests that should be on; `installed` all there are, in the order in which they came: who came first keeps what it claims. */
export function resolve(enabled: readonly Manifest[], installed: readonly Manifest[], host: Host): Resolution {
  const blocked = new Map<string, string>();
  for (const manifest of enabled) {
    const reason = refusal(manifest, enabled, host) ?? rivalClaim(manifest, installed.slice(0, Math.max(0, installed.indexOf(manifest))), host.names ?? NO_KERNEL_NAMES);
    if (reason) blocked.set(manifest.id, reason);
  }
  blockMissing(enabled, installed, blocked);
  for (;;) {
    const nodes = nodesOf(enabled.filter((manifest) => !blocked.has(manifest.id)));
    const cycle = findCycle(nodes);
    if (!cycle) return { waves: wavesOf(nodes), blocked };
    for (const id of cycle) blocked.set(id, `its requirements form a ring: ${[...cycle, cycle[0]].join(' → ')}`);
    blockMissing(enabled, installed, blocked);
  }
}

/** Who provides a service among these, in a version the range accepts. */
export const providerOf = (service: string, range: string, among: readonly Manifest[]): Manifest | undefined =>
  among.find((manifest) => {
    return [manifest.provides?.[service] ?? []].flat().some((version) => satisfies(version, range));
  });

/** Ids that cannot run without `id`, directly or through others. */
export function dependentsOf(id: string, among: readonly Manifest[]): string[] {
  const found = new Set<string>();
  const queue = [id];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const services = Object.keys(among.find((manifest) => manifest.id === next)?.provides ?? {});
    for (const manifest of among) {
      if (manifest.id === id || found.has(manifest.id)) continue;
      if (!services.some((service) => manifest.requires?.[service] !== undefined)) continue;
      found.add(manifest.id);
      queue.push(manifest.id);
    }
  }
  return [...found].sort();
}

/** Ids that use a service of `id` when it is there, and go on without. */
export function usersOf(id: string, among: readonly Manifest[]): string[] {
  const services = Object.keys(among.find((manifest) => manifest.id === id)?.provides ?? {});
  return among.filter((manifest) => manifest.id !== id && services.some((service) => manifest.optional?.[service] !== undefined)).map((manifest) => manifest.id);
}

function refusal(manifest: Manifest, enabled: readonly Manifest[], { apiVersion }: Host): string | undefined {
  if (!satisfies(apiVersion, manifest.api)) return `it needs @svc/api ${manifest.api}, this daemon has ${apiVersion}`;
  const rival = manifest.conflicts?.find((id) => enabled.some((other) => other.id === id));
  if (rival !== undefined) return `it conflicts with ${rival}, which is on`;
  const taken = manifest.kinds?.find((kind) => ownerOf(kind, enabled) !== manifest);
  return taken === undefined ? undefined : `it claims runs of the kind "${taken}", which ${ownerOf(taken, enabled)?.id} owns`;
}

/** Of several that claim a kind of durable work the first has it. */
const ownerOf = (kind: string, among: readonly Manifest[]): Manifest | undefined => among.find((manifest) => manifest.kinds?.includes(kind));

function blockMissing(enabled: readonly Manifest[], installed: readonly Manifest[], blocked: Map<string, string>): void {
  for (let changed = true; changed; ) {
    changed = false;
    const able = enabled.filter((manifest) => !blocked.has(manifest.id));
    for (const manifest of able) {
      const missing = Object.entries(manifest.requires ?? {}).find(([service, range]) => !providerOf(service, range, able));
      if (!missing) continue;
      blocked.set(manifest.id, missingReason(missing[0], missing[1], enabled, installed));
      changed = true;
    }
  }
}

function missingReason(service: string, range: string, enabled: readonly Manifest[], installed: readonly Manifest[]): string {
  const waiting = providerOf(service, range, enabled);
  if (waiting) return `it requires the service ${service}, and ${waiting.id}, which provides it, cannot start`;
  const off = providerOf(service, range, installed);
  if (off) return `it requires the service ${service}, and ${off.id}, which provides it, is off or failed`;
  return `it requires the service ${service} ${range}, which no installed extension provides`;
}

/** Requirements first; then wishes, each only where it closes no ring: a wish gives way, a requirement never does. */
function nodesOf(manifests: readonly Manifest[]): Node[] {
  const sorted = [...manifests].sort((a, b) => (a.id < b.id ? -1 : 1));
  const needs = new Map(sorted.map((manifest) => [manifest.id, new Set(providersOf(manifest, manifest.requires, sorted))]));
  for (const manifest of sorted) {
    for (const wish of [...providersOf(manifest, manifest.optional, sorted), ...(manifest.after ?? [])]) {
      if (needs.has(wish) && !reaches(wish, manifest.id, needs)) needs.get(manifest.id)?.add(wish);
    }
  }
  return sorted.map(({ id }) => ({ id, needs: needs.get(id) ?? new Set() }));
}

const providersOf = (manifest: Manifest, services: Readonly<Record<string, string>> | undefined, among: readonly Manifest[]): string[] =>
  Object.entries(services ?? {}).flatMap(([service, range]) => {
    const provider = providerOf(service, range, among);
    return provider && provider.id !== manifest.id ? [provider.id] : [];
  });

function reaches(from: string, to: string, needs: ReadonlyMap<string, ReadonlySet<string>>, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(needs.get(from) ?? [])].some((next) => reaches(next, to, needs, seen));
}

function findCycle(nodes: readonly Node[]): string[] | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (id: string): string[] | undefined => {
    if (path.includes(id)) return path.slice(path.indexOf(id));
    if (done.has(id)) return undefined;
    path.push(id);
    for (const need of byId.get(id)?.needs ?? []) {
      const cycle = visit(need);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(id);
    return undefined;
  };
  for (const node of nodes) {
    const cycle = visit(node.id);
    if (cycle) return cycle;
  }
  return undefined;
}

function wavesOf(nodes: readonly Node[]): string[][] {
  const waves: string[][] = [];
  const placed = new Set<string>();
  let left = [...nodes];
  while (left.length > 0) {
    const wave = left.filter((node) => [...node.needs].every((need) => placed.has(need))).map((node) => node.id);
    for (const id of wave) placed.add(id);
    left = left.filter((node) => !placed.has(node.id));
    waves.push(wave.sort());
  }
  return waves;
}

/** What stops when `id` does, of what is `active`. */
export function planStop(action: ExtensionPlan['action'], id: string, active: readonly Manifest[], essential: boolean): ExtensionPlan {
  const on = active.some((manifest) => manifest.id === id);
  const warning = essential ? `${id} is essential: without it the daemon refuses most work and answers 503.` : null;
  return { id, action, starts: [], stops: on ? [id, ...dependentsOf(id, active)] : [], degrades: on ? usersOf(id, active) : [], warning, back: `svc ext enable ${id}` };
}
