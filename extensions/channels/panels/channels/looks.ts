/** How states look. */
import type { IconName, OutputOf, Tone } from '@svc/kit';

type Channel = OutputOf<'listChannels'>['channels'][number];
type Delivery = OutputOf<'listChannelDeliveries'>['deliveries'][number];

export const CHANNEL_LOOKS: Readonly<Record<Channel['state'], readonly [Tone, IconName]>> = {
  off: ['quiet', 'ban'],
  connecting: ['info', 'clock'],
  connected: ['good', 'check'],
  listening: ['good', 'check'],
  failing: ['bad', 'circle-alert'],
  deaf: ['warn', 'circle-alert'],
  elsewhere: ['info', 'clock'],
};

export const DELIVERY_LOOKS: Readonly<Record<Delivery['status'], Tone>> = {
  received: 'info',
  answered: 'good',
  ignored: 'quiet',
  queued: 'info',
  sending: 'info',
  sent: 'good',
  failed: 'bad',
  unknown: 'warn',
};
