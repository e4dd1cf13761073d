import { defineEvent, Type } from '@svc/api';

/** There are new entries. */
export const AuditEntered = defineEvent('audit.entered', '1.0.0', Type.Object({}), { what: 'audit', permission: 'audit.read' });
