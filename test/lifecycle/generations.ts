/** What reloads are asked about: which areas serve, and what those that were replaced left behind. */
import type { ModelKernel } from '../clients/model-kernel.js';

export const areasOf = (svc: ModelKernel): string[] => svc.kernel.daemon.kernel.extensions().flatMap((one) => (one.state === 'active' ? [one.id] : []));

/** Whatever a replaced generation left behind, by extension. */
export const remains = async (svc: ModelKernel): Promise<string[]> => {
  await svc.kernel.daemon.lifecycle.settled();
  const left = (): string[] => svc.kernel.daemon.kernel.extensions().flatMap((one) => [...one.leaks, ...one.holds].map((what) => `${one.id}: ${what}`));
  // Whoever has just begun looks for work, which ends by itself.
  for (let tries = 0; tries < 100 && left().length > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
  return left();
};
