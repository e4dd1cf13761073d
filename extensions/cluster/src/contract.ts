import { defineEvent, Type } from '@svc/api';

/** A daemon came, went or fell silent, or another one delivers events. */
export const ClusterChanged = defineEvent('cluster.changed', '1.0.0', Type.Object({}), { what: 'cluster', permission: 'cluster.admin' });
