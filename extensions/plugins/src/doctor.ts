/** What `svc doctor` says of plugins that run. */
import type { DoctorFinding } from '@svc/api';
import type { Engine } from './hooks/engine.js';
import { DIRECT } from './hooks/engine.js';
import type { Plugins } from './service.js';

export const findingsOf = async (plugins: Plugins, { loaded, fault }: Engine): Promise<DoctorFinding[]> => {
  const [all, runtimes] = await Promise.all([plugins.list(), plugins.runtimes()]);
  return loaded.flatMap((name): DoctorFinding[] => {
    if (name === DIRECT) return [];
    const plugin = all.find((one) => one.name === name);
    const why = plugin
      ? (fault(plugin) ?? (runtimes.find(({ runtime }) => runtime === plugin.manifest.runtime)?.available === false ? `the launcher of ${plugin.manifest.runtimeName} is not on PATH` : undefined))
      : 'it is not installed';
    return [
      why === undefined
        ? { check: 'plugins', result: 'pass', message: `The plugin ${name} runs.` }
        : { check: 'plugins', result: 'fail', message: `The plugin ${name} does not run: ${why}.`, fix: `svc plugins lint ${name}` },
    ];
  });
};
