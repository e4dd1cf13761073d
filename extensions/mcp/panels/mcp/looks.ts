/** How the states of a server look. */
import type { IconName, OutputOf, Tone } from '@svc/kit';

export type Status = OutputOf<'getMcpServer'>['status'];

export const LOOKS: Readonly<Record<Status, readonly [Tone, IconName]>> = {
  connected: ['good', 'check'],
  connecting: ['info', 'clock'],
  setup: ['warn', 'key'],
  error: ['bad', 'circle-alert'],
  disabled: ['quiet', 'ban'],
};
