/** What is drawn by hand of tasks: the figures of the queue, above the list. */
import { count, daemon, Shown, Stat, Stats, useFresh, useLoaded } from '@svc/kit';
import type { CollectionSlots } from '@svc/kit/collection';
import { t } from './tasks/words.js';

const Figures = () => {
  const queue = useLoaded('queue', (signal) => daemon.call('getQueueStatus', {}, { signal }));
  useFresh(queue.reload, ['run']);
  return (
    <Shown of={queue}>
      {({ lanes, depth, throughput, config }) => (
        <Stats>
          <Stat label={t('active')} value={count(lanes.reduce((sum, { active }) => sum + active, 0))} note={t('of_capacity', { capacity: count(config.max_active) })} />
          <Stat label={t('depth')} value={count(depth)} note={config.max_depth_global === 0 ? t('no_limit') : t('of_limit', { limit: count(config.max_depth_global) })} />
          <Stat label={t('done_minute')} value={count(throughput.completed_last_minute)} note={t('failed_minute', { count: count(throughput.failed_last_minute) })} />
        </Stats>
      )}
    </Shown>
  );
};

export const slots: CollectionSlots = { head: <Figures /> };
