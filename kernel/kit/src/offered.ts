/** Which panels there are for this caller: what is shown links to no other. */
import { daemon } from './daemon.js';
import { useLoaded } from './loading.js';

export const useOffered = (): ((panel: string) => boolean) => {
  const { data } = useLoaded('panels', (signal) => daemon.call('listPanels', {}, { signal }), ['extension', 'auth']);
  return (panel) => data?.panels.some(({ id }) => id === panel) ?? false;
};
