import { AUDIT_CATEGORIES, AuditCategory, defineConfig, type Plain, Type } from '@svc/api';

const AuditConfig = Type.Object(
  {
    required: Type.Array(AuditCategory, {
      default: ['logins', 'grants', 'installs', 'approvals'],
      uniqueItems: true,
      description: `What is refused when the audit trail cannot be written first, of ${AUDIT_CATEGORIES.join(', ')}. Failures of other entries are counted and shown`,
    }),
    retention_days: Type.Integer({
      default: 90,
      minimum: 0,
      maximum: 36_500,
      description: 'After as many days the details of entries are deleted, 256 entries at a time; their hashes stay, so the chain can still be verified. 0 keeps everything',
    }),
    checkpoint_entries: Type.Integer({ default: 4_096, minimum: 1, maximum: 1_000_000, description: 'Sign a checkpoint after as many entries' }),
    checkpoint_minutes: Type.Integer({ default: 10, minimum: 1, maximum: 1_440, description: 'Sign a checkpoint at least this often, if there are new entries' }),
    witness_url: Type.Optional(
      Type.String({
        format: 'uri',
        maxLength: 2_048,
        description: 'Address of a witness (C2SP tlog-witness). Each checkpoint is sent to it, and its signature is added',
      }),
    ),
  },
  { additionalProperties: false, default: {} },
);
export type AuditConfig = Plain<typeof AuditConfig>;

export const AuditSection = defineConfig('audit', AuditConfig);
