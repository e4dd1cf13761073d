/** What the panel of tasks says. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    active: 'Active',
    of_capacity: 'of {capacity} per daemon',
    depth: 'Queued',
    no_limit: 'no limit',
    of_limit: 'of {limit}',
    done_minute: 'Completed in the last minute',
    failed_minute: '{count} failed',
  },
  zh: {
    active: '进行中',
    of_capacity: '每个守护进程最多 {capacity}',
    depth: '排队',
    no_limit: '无上限',
    of_limit: '上限 {limit}',
    done_minute: '最近一分钟完成',
    failed_minute: '{count} 个失败',
  },
});
