/** What an agent tells its owner, or somebody sends to this device, while the page is open is shown at once, whichever panel is open. */
import { caller, daemon, notify, useChanges } from '@svc/kit';
import { panels } from './panels.js';
import { t } from './shell-words.js';

const MAX_CHARS = 300;

export const useAgentNotices = (): void =>
  useChanges(['notice'], (change) => {
    if (change?.state === 'sent' && change.id !== undefined && panels.peek()?.some(({ id }) => id === 'notices')) void show(change.id);
  });

/** Whoever may hear of it and may not read it, an admin of another person's, is shown nothing. */
const show = async (id: string): Promise<void> => {
  const { notices } = await daemon.call('listNotices', { unread: true });
  const notice = notices.find((one) => one.id === id);
  if (notice) notify(t('agent_says', { agent: notice.agent_name, text: `${notice.reason}: ${notice.summary}`.slice(0, MAX_CHARS) }));
};

const DEVICE = 'device:';

/** Of a browser that is a paired device. */
export const useDeviceMessages = (): void =>
  useChanges(['device'], (change) => {
    if (change?.state === 'notified' && change.id !== undefined && caller.peek()?.name === `${DEVICE}${change.id}`) void showMessage(change.id);
  });

const showMessage = async (id: string): Promise<void> => {
  const { devices } = await daemon.call('listDevices', { limit: 100 });
  const notice = devices.find((one) => one.id === id)?.notice;
  if (notice) notify(t('device_message', { title: notice.title, message: notice.message }).slice(0, MAX_CHARS));
};
