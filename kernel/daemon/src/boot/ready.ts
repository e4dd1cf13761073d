/** Step 5, when every extension that should be on was started once: what goes on from now on, and daemon.json. */
import { join } from 'node:path';
import * as api from '@svc/api';
import { atomicWrite } from '@svc/platform/adapters/files/atomic-write';
import { watchChoices } from '@svc/platform/choices/choice-watch';
import { watchConfig } from '@svc/platform/config/file/config-watch';
import { exposedPaths } from '@svc/platform/config/privacy';
import { watchTrust } from '@svc/third-party';
import { urlOf } from './address.js';
import { isAskable } from './facade.js';
import type { Ground } from './ground.js';
import { startHousekeeping } from './housekeeping.js';
import type { Kernel } from './kernel.js';

export async function becomeReady(ground: Ground, { address, parts, installation, lifecycle, choices, settings, shared, own }: Kernel): Promise<void> {
  const { home, log, progress, release, relay, startedAt } = ground;
  const kernelLog = log.logger('kernel');
  const sweeping = startHousekeeping({ ...parts, relay }, kernelLog);
  own.lifetime.add('sweep of old runs', () => sweeping.dispose());
  const saved = await watchConfig({ file: home.configFile, clock: parts.clock, log: log.logger('config'), reload: async () => void (await settings.apply('config.toml was saved')) });
  own.lifetime.add('watch of config.toml', () => saved.dispose());
  own.lifetime.add('relay of durable events', () => relay.close());
  // Who is connected was validated by the keys and roles of then.
  ground.wiring.events.on(own, api.AuthChanged, async () => {
    // In the next turn: by then every area that hears it has given up what it knew.
    await new Promise((resolve) => setImmediate(resolve));
    await parts.http.recheckCallers();
  });
  ground.wiring.events.listeners.swap(undefined, own);
  const watch = watchChoices({ clock: parts.clock, log: kernelLog, bus: ground.bus, choices, lifecycle, isAskable: () => isAskable(ground, lifecycle) });
  own.lifetime.add('watch of choices', () => watch.dispose());
  const sharing = await shared?.watch(parts.clock);
  if (sharing) own.lifetime.add('watch of shared settings', () => sharing.dispose());
  const present = await parts.members.keep(parts.clock);
  own.lifetime.add('row of this daemon', () => present.dispose());
  const trust = watchTrust({ clock: parts.clock, installation, log: log.logger('installer') });
  own.lifetime.add('watch of trust.toml', () => trust.dispose());
  relay.poke();
  // Their runs wait for the end of their own; nobody waits for the rest.
  const survivors = parts.execAdapter.endSurvivors().catch((cause: unknown) => kernelLog.warn('processes of an earlier daemon could not be searched for', { cause }));
  own.lifetime.add('end of children of an earlier life', async () => void (await survivors));
  const { host, port } = address;
  // Before the file: who reads it is served, and not told that the daemon is starting.
  progress.to({ at: 'ready', address, lifecycle });
  // Whole or not at all: commands read it while it is written.
  await atomicWrite(join(home.home, 'daemon.json'), JSON.stringify({ pid: process.pid, address: host, port, url: urlOf(address), startedAt, version: release.version }));
  void parts.hooks.handle(api.KernelReady).call(undefined);
  // Nobody's first answer waits for this.
  for (const { what, path } of await exposedPaths(home)) kernelLog.warn(`${what}.`, { path, fix: 'svc doctor --fix' });
}
