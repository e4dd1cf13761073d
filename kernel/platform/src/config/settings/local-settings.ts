/** The settings of a file beside which no daemon runs: the same code, without a log and without a memory of good values. */
import { systemClock } from '../../clock/clock.js';
import { createLog } from '../../log/log.js';
import { type Config, type ConfigOptions, createConfig } from '../config.js';

export const openLocalSettings = async (options: Pick<ConfigOptions, 'file' | 'env' | 'sections' | 'refusesStart'>): Promise<Config> => {
  const log = createLog({ dir: null, level: 'error', clock: systemClock(), terminal: false });
  // What was good before is for the daemon to remember.
  const config = createConfig({ ...options, log, lastGoodFile: null });
  await config.load();
  return config;
};
